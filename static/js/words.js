// What a person reads, in the language of the page: Django's catalogue is loaded before the modules
// where it is not English. A text names its values as %(name)s.

export function gettext(text, values = {}) {
  return filled(window.django?.gettext(text) ?? text, values);
}

export function ngettext(one, many, count, values = {}) {
  const text = window.django?.ngettext(one, many, count) ?? (count === 1 ? one : many);
  return filled(text, { count, ...values });
}

function filled(text, values) {
  return text.replace(/%\((\w+)\)s/g, (_, name) => values[name]);
}

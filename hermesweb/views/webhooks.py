from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from hermesweb import acts, webhooks
from hermesweb.access import webhook_or_404
from hermesweb.http import SignedIn
from hermesweb.labels import sentence
from hermesweb.models import Delivery, DeliveryState
from hermesweb.webhook_form import WebhookForm

DELIVERIES = 50


@require_http_methods(["GET", "POST"])
@never_cache
@login_required
def page(request: SignedIn) -> HttpResponse:
    """The webhooks of the person who looks; a post adds one."""
    form = WebhookForm(request.POST if request.method == "POST" else None)
    if form.is_valid() and _done(
        form, lambda: acts.add_webhook(request.user, request.user, **form.values)
    ):
        messages.success(request, _("The webhook is told of what happens from now on."))
        return redirect("webhooks")
    mine = Delivery.objects.filter(webhook__owner=request.user)
    context: dict[str, Any] = {
        "section": "webhooks",
        "form": form,
        "webhooks": webhooks.of_owner(request.user).order_by("pk"),
        "deliveries": mine.select_related("webhook", "session").order_by("-pk")[:DELIVERIES],
        "testing": mine.filter(session=None, state=DeliveryState.WAITING).exists(),
    }
    return render(request, "webhooks/page.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
@never_cache
@login_required
def edit(request: SignedIn, id: int) -> HttpResponse:
    found = webhook_or_404(request.user, id)
    sent = request.POST if request.method == "POST" else None
    form = WebhookForm(sent, webhook=found)
    if form.is_valid() and _done(
        form, lambda: acts.change_webhook(request.user, found, **form.values)
    ):
        messages.success(request, _("The webhook is changed."))
        return redirect("webhooks")
    context = {"section": "webhooks", "webhook": found, "form": form}
    return render(request, "webhooks/edit.html", context, status=422 if form.errors else 200)


@require_POST
@login_required
def delete(request: SignedIn, id: int) -> HttpResponse:
    acts.delete_webhook(request.user, webhook_or_404(request.user, id))
    messages.success(request, _("The webhook is deleted; what waited for it is not sent."))
    return redirect("webhooks")


@require_POST
@login_required
def test(request: SignedIn, id: int) -> HttpResponse:
    try:
        acts.test_webhook(request.user, webhook_or_404(request.user, id))
    except acts.Refused as refusal:
        messages.error(request, sentence(str(refusal)))
    else:
        messages.success(request, _("A test is on its way: what became of it stands below."))
    return redirect("webhooks")


def _done(form: WebhookForm, act: Callable[[], object]) -> bool:
    """Do an act; what it says against the values stands in the form."""
    try:
        act()
    except acts.Invalid as problem:
        form.add_invalid(problem)
    except acts.Refused as refusal:
        form.add_error(None, sentence(str(refusal)))
    return not form.errors

// The categories of a breakdown in the order of a request, each with Plotly's nearest pattern.

export const CATEGORIES = [
  { name: "system_prompt", letter: "S", shape: "+" },
  { name: "project_docs", letter: "D", shape: "-" },
  { name: "project_context", letter: "P", shape: "/" },
  { name: "skills", letter: "K", shape: "|" },
  { name: "tool_schemas", letter: "F", shape: "+" },
  { name: "memory", letter: "M", shape: "." },
  { name: "summary", letter: "Y", shape: "x" },
  { name: "user", letter: "U", shape: "\\" },
  { name: "assistant", letter: "A", shape: "." },
  { name: "thinking", letter: "T", shape: "/" },
  { name: "tool_calls", letter: "C", shape: "x" },
  { name: "images", letter: "I", shape: "|" },
  { name: "tool_results", letter: "R", shape: "" },
];

// tool_results -> Tool results
export function label(name) {
  const words = name.replaceAll("_", " ");
  return words[0].toUpperCase() + words.slice(1);
}

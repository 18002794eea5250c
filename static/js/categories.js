// The categories of a breakdown in the order of a request, each with Plotly's nearest pattern.

import { gettext } from "./words.js";

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

// What a recording's provider counted beside what the recording holds; below all categories.
export const UNSEEN = { name: "unseen", letter: "", shape: "\\" };

const LABELS = {
  unseen: gettext("Unseen"),
  system_prompt: gettext("System prompt"),
  project_docs: gettext("Project docs"),
  project_context: gettext("Project context"),
  skills: gettext("Skills"),
  tool_schemas: gettext("Tool schemas"),
  memory: gettext("Memory"),
  summary: gettext("Summary"),
  user: gettext("User"),
  assistant: gettext("Assistant"),
  thinking: gettext("Thinking"),
  tool_calls: gettext("Tool calls"),
  images: gettext("Images"),
  tool_results: gettext("Tool results"),
};

export function label(name) {
  return LABELS[name];
}

"use strict";

// The token stays in its field, so it is gone when the page is closed. Texts of documents become text, never markup.
const field = (id) => document.getElementById(id);

function show(text, isError = false) {
  field("figures").textContent = text;
  field("figures").className = isError ? "error" : "";
}

function add(parent, kind, text) {
  const made = parent.appendChild(document.createElement(kind));
  made.textContent = text;
  return made;
}

// Matches count code points, strings of JavaScript count UTF-16 units.
function addPassage(parent, passage) {
  const letters = Array.from(passage.text);
  const place = parent.appendChild(document.createElement("pre"));
  let done = 0;
  for (const [offset, end] of passage.matches) {
    const from = Math.max(offset - passage.offset, done);
    const to = Math.min(end - passage.offset, letters.length);
    if (from >= to) continue;
    place.append(letters.slice(done, from).join(""));
    add(place, "mark", letters.slice(from, to).join(""));
    done = to;
  }
  place.append(letters.slice(done).join(""));
}

async function search(words) {
  const headers = { "Content-Type": "application/json" };
  const token = field("token").value.trim();
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch("/v1/search", { method: "POST", headers, body: JSON.stringify({ words }) });
  return response.json();
}

field("question").addEventListener("submit", async (event) => {
  event.preventDefault();
  field("hits").replaceChildren();
  show("…");
  try {
    const answer = await search(field("words").value);
    if (!answer.ok) {
      show([answer.error.message, answer.error.hint].filter(Boolean).join(" "), true);
      return;
    }
    show([`${answer.stats.total_hits} hits in ${Math.round(answer.stats.took_ms)} ms`, ...answer.warnings].join(" · "));
    for (const hit of answer.results) {
      const item = field("hits").appendChild(document.createElement("li"));
      const passage = hit.passage;
      add(item, "strong", passage ? `${hit.doc.path}:${passage.line_start}-${passage.line_end}` : hit.doc.path);
      add(item, "div", hit.doc.title || "");
      if (passage) addPassage(item, passage);
    }
  } catch (error) {
    show(`The server cannot be reached: ${error.message}`, true);
  }
});

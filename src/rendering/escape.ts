// Text as HTML. What would show it in another order than it has is shown by its number.

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Characters that show a text in another order than it has. */
const REORDERING = /[\u202A-\u202E\u2066-\u2069]/g;

/** A text as it stands. */
export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ESCAPES[character]!);
}

/** HTML in which each such character is named, such as U+202E. */
export function withNamedMarks(html: string): string {
  return html.replace(REORDERING, named);
}

function named(character: string): string {
  return `<span class="missing">U+${character.charCodeAt(0).toString(16).toUpperCase()}</span>`;
}

// Text as PostgreSQL stores it: it refuses U+0000, which stands behind a mark instead.

/** A code point that Unicode reserves for a program's own use. */
const MARK = '\uFDD0';
/** The same in UTF-8. */
export const MARK_BYTES = Buffer.from(MARK);
const [NUL_BEHIND, MARK_BEHIND] = ['0', '1'];
const ESCAPED = /[\0\uFDD0]/g;
const WRITTEN = /\uFDD0([01])/g;

/** The text as it is stored. Different texts stay different; their order stays, but for U+0000. */
export function toPostgres(text: string): string {
  if (!text.includes('\0') && !text.includes(MARK)) return text;
  return text.replace(ESCAPED, (character) => MARK + (character === MARK ? MARK_BEHIND : NUL_BEHIND));
}

/** The text that was given. */
export function fromPostgres(text: string): string {
  if (!text.includes(MARK)) return text;
  return text.replace(WRITTEN, (_, behind: string) => (behind === MARK_BEHIND ? MARK : '\0'));
}

// Keeps dates and times on one line.
import MarkdownIt, { type Token } from 'markdown-it';

const MONTH =
  '(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan\\.?|Feb\\.?|Mar\\.?|Apr\\.?|Jun\\.?|Jul\\.?|Aug\\.?|Sept?\\.?|Oct\\.?|Nov\\.?|Dec\\.?)';
const CLOCK = '\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,]\\d{1,9})?)?';
const ZONE =
  '(?:Z|[ \\u00A0]?(?:UTC|GMT|CES?T|BST|[ECMP][SD]T|[AaPp]\\.?[Mm]\\b\\.?)|[ \\u00A0]?[+\\u2212-]\\d{2}:?\\d{2})';
/** The ways that agents write them. */
const FORMS = [
  `\\d{4}-\\d{2}-\\d{2}(?:[T \\u00A0]${CLOCK}${ZONE}?)?`,
  `${CLOCK}${ZONE}`,
  `\\d{1,2}(?:st|nd|rd|th|\\.)?[ \\u00A0]${MONTH}(?:,?[ \\u00A0]\\d{4})?`,
  `${MONTH}[ \\u00A0]\\d{1,2}(?:st|nd|rd|th)?(?:,[ \\u00A0]\\d{4})?`,
  `\\d{4}年\\d{1,2}月\\d{1,2}日`,
];
const DATE = new RegExp(`(?<![\\p{L}\\p{N}./:-])(?:${FORMS.join('|')})(?![\\p{L}\\p{N}/-])`, 'gu');

/** Others may break: a table of so many has columns of its own. */
const MOST_DATES = 5_000;

/** The text before it, its tags and its own text. */
const TOKENS_OF_DATE = 4;

/** Puts a span around each date in the texts of the tokens. */
export function keepDates(tokens: readonly Token[]): void {
  let left = MOST_DATES;
  for (const token of tokens) {
    if (token.type !== 'inline' || token.children === null || left <= 0) continue;
    token.children = token.children.flatMap((child) => {
      if (child.type !== 'text' || left <= 0) return [child];
      const parts = partsOf(child, left);
      left -= (parts.length - 1) / TOKENS_OF_DATE;
      return parts;
    });
  }
}

/** The texts between dates, and each date between its tags. */
function partsOf(token: Token, most: number): Token[] {
  const { content } = token;
  const parts: Token[] = [];
  let [at, count] = [0, 0];
  for (const { 0: date, index } of content.matchAll(DATE)) {
    if (count === most) break;
    const open = new MarkdownIt.Token('date_open', 'span', 1);
    open.attrs = [['class', 'date']];
    parts.push(
      textToken(content.slice(at, index)),
      open,
      textToken(date),
      new MarkdownIt.Token('date_close', 'span', -1),
    );
    at = index + date.length;
    count += 1;
  }
  if (count === 0) return [token];
  return [...parts, textToken(content.slice(at))];
}

function textToken(content: string): Token {
  const token = new MarkdownIt.Token('text', '', 0);
  token.content = content;
  return token;
}

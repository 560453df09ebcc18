// Front matter: the YAML between two lines of three dashes at the beginning of a Markdown file.

export const FENCE = '---';

/** Front matter, without its fences, and the text below it without surrounding white space. */
interface FrontMatter {
  readonly yaml: string;
  readonly body: string;
}

/** Splits a text; null when it doesn't begin with front matter. The first line of the YAML is the second of the text. */
export function splitFrontMatter(text: string): FrontMatter | null {
  const lines = text.split('\n');
  const isFence = (line: string | undefined) => line?.trimEnd() === FENCE;
  const end = lines.findIndex((line, at) => at > 0 && isFence(line));
  if (!isFence(lines[0]) || end < 0) return null;
  const body = lines.slice(end + 1).join('\n');
  return { yaml: lines.slice(1, end).join('\n'), body: body.trim() };
}

// The commands and files of the pages that an administrator follows, with what each has to fill in.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));

/** Blocks of the section with this title, whatever its level, up to the next title. Throws when there are others than `languages`. */
export function blocksOf(page: string, title: string, languages: readonly string[]): readonly string[] {
  const text = readFileSync(path.join(CHECKOUT, 'docs', page), 'utf8');
  const [, section = ''] =
    new RegExp(`\n#+ ${title}\n([^]*?)(?=\n#+ |$)`).exec(text.replaceAll(/\n# /g, '\n\\# ')) ?? [];
  const blocks = [...section.matchAll(/```(\w+)\n([^]*?)```/g)].map(([, language, body]) => ({
    language: language!,
    text: body!.replaceAll(/^\\# /gm, '# '),
  }));
  const found = blocks.map(({ language }) => language).join();
  if (found !== languages.join()) throw new Error(`docs/${page}, "${title}", has other blocks than before: ${found}.`);
  return blocks.map(({ text: body }) => body);
}

/** Fills in what is an example in a page. Throws when it isn't there. */
export function filledIn(block: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((text, [example, value]) => {
    if (!text.includes(example)) throw new Error(`The documentation no longer has: ${example}`);
    return text.replaceAll(example, value);
  }, block);
}

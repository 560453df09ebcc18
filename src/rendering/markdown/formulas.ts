// Formulas as MathML, which browsers show by themselves: no script, no font, no style of its own.
import sanitizeHtml, { type IOptions } from 'sanitize-html';
import temml from 'temml';
import { escaped } from '../escape.ts';

/** Text of all formulas of a document; what comes after stays TeX. */
const MAX_MATHML_CHARACTERS = 2_000_000;
/** Replacements of macros in one formula. */
const MAX_EXPANSIONS = 500;
/** Of what TeX measures: in em, and in pixels. */
const MAX_SIZE: [number, number] = [20, 400];

/** Browsers break no formula at the end of a line: a longer one in a line scrolls by itself where it has no room. */
const MAX_SHORT_CHARACTERS = 40;

/** A formula as it is written. */
export interface Formula {
  readonly tex: string;
  readonly markup: string;
  readonly isDisplay: boolean;
}

/** Each as HTML that is safe: MathML, or the TeX of one that has a fault. */
export function renderFormulas(formulas: readonly Formula[]): string[] {
  let left = MAX_MATHML_CHARACTERS;
  return formulas.map((formula) => {
    const made = left > 0 ? mathmlOf(formula) : undefined;
    left -= made?.length ?? 0;
    if (made === undefined) return sourceOf(formula);
    const { isDisplay, tex } = formula;
    if (!isDisplay && tex.length <= MAX_SHORT_CHARACTERS) return made;
    const kind = isDisplay ? 'formula' : 'wide';
    return `<span class="scroll ${kind}" tabindex="0" role="group" aria-label="Formula">${made}</span>`;
  });
}

/** undefined for what isn't understood, and for what would overflow the stack. */
function mathmlOf({ tex, isDisplay }: Formula): string | undefined {
  try {
    const made = temml.renderToString(tex, {
      displayMode: isDisplay,
      throwOnError: true,
      trust: false,
      maxExpand: MAX_EXPANSIONS,
      maxSize: MAX_SIZE,
    });
    return sanitizeHtml(made, MATHML);
  } catch {
    return undefined;
  }
}

function sourceOf({ tex, markup, isDisplay }: Formula): string {
  const [open, close] = [markup, markup.replace('\\[', '\\]').replace('\\(', '\\)')];
  return isDisplay
    ? `<span class="scroll formula"><code>${escaped(tex.trim())}</code></span>`
    : `<code>${escaped(open + tex + close)}</code>`;
}

const COLOUR = /(?:^|;)color:\s*(#[0-9a-f]{3,8})/i;
const BACKGROUND = /(?:^|;)background-color:\s*(#[0-9a-f]{3,8})/i;

/** The elements of MathML that show something, without those that may contain others than of MathML. */
const MATHML: IOptions = {
  allowedTags: (
    'math menclose merror mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt mstyle ' +
    'msub msubsup msup mtable mtd mtext mtr munder munderover'
  ).split(' '),
  allowedAttributes: {
    '*': ['mathcolor', 'mathbackground', 'displaystyle', 'scriptlevel', 'mathvariant'],
    math: ['display'],
    mfrac: ['linethickness'],
    mo: [
      'fence',
      'form',
      'largeop',
      'lspace',
      'maxsize',
      'minsize',
      'movablelimits',
      'rspace',
      'separator',
      'stretchy',
      'symmetric',
    ],
    mover: ['accent'],
    mpadded: ['depth', 'height', 'lspace', 'voffset', 'width'],
    mspace: ['depth', 'height', 'width'],
    mtd: ['columnspan', 'rowspan'],
    munder: ['accentunder'],
    munderover: ['accent', 'accentunder'],
  },
  allowedClasses: { mtd: ['tml-left', 'tml-right'] },
  disallowedTagsMode: 'discard',
  parseStyleAttributes: false,
  // The page's policy forbids styles; of them, colours are attributes, too.
  transformTags: {
    '*': (tagName, { style = '', ...attribs }) => {
      const [colour, background] = [COLOUR.exec(style)?.[1], BACKGROUND.exec(style)?.[1]];
      return {
        tagName,
        attribs: {
          ...attribs,
          ...(colour !== undefined && { mathcolor: colour }),
          ...(background !== undefined && { mathbackground: background }),
        },
      };
    },
  },
};

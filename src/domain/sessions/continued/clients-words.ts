// What programs write into the texts of a conversation beside the words of its user and its assistant. In recordings of these programs.

interface Form {
  readonly client: string;
  readonly open: string;
  readonly close: string;
  /** It changes from one request to the next, or is left out. */
  readonly passes?: true;
  /** It stands before what the user says. */
  readonly leads?: true;
}

const FORMS: readonly Form[] = [
  ...tagged('Claude Code, qwen-code', 'system-reminder', { passes: true, leads: true }),
  ...tagged('Codex', 'environment_context', { leads: true }),
  ...tagged('Codex', 'user_instructions', { leads: true }),
  { client: 'Codex', open: '# AGENTS.md instructions for ', close: '</INSTRUCTIONS>', leads: true },
  ...tagged('models that think aloud', 'think', { passes: true }),
  ...tagged('models that think aloud', 'thinking', { passes: true }),
];

function tagged(client: string, tag: string, uses: Pick<Form, 'passes' | 'leads'>): readonly Form[] {
  return [{ client, open: `<${tag}>`, close: `</${tag}>`, ...uses }];
}

const PASSING = FORMS.filter(({ passes }) => passes);
const LEADING = FORMS.filter(({ leads }) => leads);

/** The text without what passes, wherever it is. */
export function withoutPassing(text: string): string {
  return PASSING.reduce(without, text);
}

/** In one pass, however many there are. What isn't closed stays. */
function without(text: string, { open, close }: Form): string {
  let kept = '';
  let at = 0;
  for (;;) {
    const from = text.indexOf(open, at);
    const to = from === -1 ? -1 : text.indexOf(close, from);
    if (to === -1) return at === 0 ? text : kept + text.slice(at);
    kept += text.slice(at, from);
    at = to + close.length;
  }
}

/** What stands before the user's words is looked for in so many characters. */
const MAX_LEADING = 1_000_000;

/** What the user says: the text from behind what its client has put before it. Empty when nothing else is there. */
export function userWords(text: string): string {
  const searched = text.slice(0, MAX_LEADING);
  const blanks = /\s*/y;
  let at = 0;
  for (;;) {
    blanks.lastIndex = at;
    const start = at + blanks.exec(searched)![0].length;
    const form = LEADING.find(({ open }) => searched.startsWith(open, start));
    const end = form === undefined ? -1 : searched.indexOf(form.close, start);
    if (end === -1) return text.slice(at);
    at = end + form!.close.length;
  }
}

/** What the user says, or else what their client says for them. */
export function askedWords(text: string): string {
  return userWords(text).trim() || text.trim();
}

// Requests that clients send beside a conversation: for its title, its tags, what its user may say next. Nobody comes back to them (M1).

interface Form {
  readonly client: string;
  readonly begin: string;
  readonly has?: string;
  /** Nothing of the conversation itself is sent with it. */
  readonly alone?: true;
}

/** How the texts begin that ask for such a thing, and what they contain as well. In public sources and recordings of these clients. */
const FORMS: readonly Form[] = [
  { client: 'Open WebUI', begin: '### Task:', has: '<chat_history>', alone: true },
  { client: 'Open WebUI', begin: '### Task:', has: '### Output:\nJSON format: {', alone: true },
  { client: 'LibreChat', begin: 'Provide a concise, 5-word-or-less title' },
  { client: 'opencode', begin: 'Generate a title for this conversation:' },
  { client: 'Continue', begin: 'Given the following... please reply with a title for the chat' },
  { client: 'Claude Code', begin: '[SUGGESTION MODE:' },
  { client: 'Claude Code', begin: 'Please write a 5-10 word title' },
  { client: 'Claude Code', begin: '<session>', has: '</session>\n\nWrite the title' },
  { client: 'Claude Code', begin: 'The user stepped away and is coming back.' },
  { client: 'qwen-code', begin: 'Managed memory has TWO directories.' },
  { client: 'qwen-code', begin: 'Generate the session title now.' },
  { client: 'qwen-code', begin: 'Generate the recap now.' },
];

/** What the first and the last user's message of a request say, which may be the same, and whether an assistant said something before. */
export interface Asked {
  readonly first: string;
  readonly last: string;
  readonly isAnswered: boolean;
}

/** Whether it is such a request. */
export function isSideRequest({ first, last, isAnswered }: Asked): boolean {
  return FORMS.some(
    ({ begin, has, alone }) =>
      !(alone && isAnswered) &&
      [first, last].some((text) => text.trimStart().startsWith(begin) && (has === undefined || text.includes(has))),
  );
}

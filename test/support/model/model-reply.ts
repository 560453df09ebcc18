// What the scripted model server can be told to answer, and the directives by which a request tells it itself.
//
// A script is a reply, or a function of the request. Without one the server obeys directives in the text of the last
// user message, so that several processes can drive it with no shared memory. They read the same in both protocols:
//
//   [[text=Any words]]        the answer's text (default: generated words); runs to the closing brackets
//   [[deltas=20 every=20]]    number of text deltas, and milliseconds between them (default 1 and 0)
//   [[first=200]]             milliseconds before the first delta
//   [[stamp=1]]               each text delta is `@<microseconds of the machine's monotonic clock>;` plus its text
//   [[tools=2]]               first that many replies, each with one call of write_file {path, content}
//   [[note=17]]               a line more in each of these files
//   [[lists=4]]               after those, that many replies, each with one call of list_files
//   [[shell=sleep 1]]         after those, one reply that calls shell {command}; runs to the closing brackets
//   [[input=900 output=40]]   the usage to report
//   [[fail=500]]              answer with this status; [[retry=2]] adds Retry-After
//   [[hang=before-headers]]   or after-headers, mid-stream (after [[after=3]] deltas)
//   [[cut=3]] [[broken=3]]    after that many deltas destroy the socket, or send a line that is no JSON
//   [[endless=1]] [[drip=1]] [[nofinish=1]] [[refuse=1]] [[html=1]]
//
// The step is the number of assistant messages after the last user message, so that a replay of a run gets the same
// replies again. Faults apply at the final reply, after the tools, except `fail`, which applies at once.

export type ModelProtocol = 'openai' | 'anthropic';

/** One tool call. `rawArguments` is sent verbatim instead of `input`, for arguments that are not JSON. */
export interface ScriptedCall {
  readonly id?: string;
  readonly name: string;
  readonly input?: unknown;
  readonly rawArguments?: string;
}

/** Tokens to report. `input` includes the cached ones, whichever protocol carries it. */
export interface ScriptedUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** One answer of the model server. Without any field it is one delta of text. */
export interface Reply {
  /** An array is sent one delta each; a string is one delta. */
  readonly text?: string | readonly string[];
  readonly tools?: readonly ScriptedCall[];
  /** Milliseconds between deltas; 0 or absent writes the whole reply at once. */
  readonly deltaMs?: number;
  /** Milliseconds before the first delta, after the headers; before the whole answer when it is not a stream. */
  readonly firstMs?: number;
  /** Puts the time of sending in front of each text delta. */
  readonly stamp?: boolean;
  readonly usage?: Partial<ScriptedUsage>;
  /** `end`, `tools`, `length`, or a word of the protocol itself. */
  readonly finish?: string;

  /** An HTTP error; `body` defaults to an error in the protocol's shape. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly hang?: 'before-headers' | 'after-headers' | 'mid-stream';
  /** Deltas sent before `hang: 'mid-stream'`. */
  readonly afterDeltas?: number;
  /** A reply that hangs before its headers, or in the middle of its stream, continues once this resolves. */
  readonly until?: Promise<unknown>;
  /** Destroys the socket in the middle of the delta after this many. */
  readonly cut?: number;
  /** How long a cut waits: a client may drop what it has not read yet when its connection ends. */
  readonly cutAfter?: Promise<unknown>;
  /** Sends a data line that isn't JSON after this many deltas, then continues. */
  readonly brokenJson?: number;
  /** Replies 200 with a web page, as a proxy in between does. */
  readonly html?: boolean;
  /** Repeats the text's deltas until the client leaves, as fast as it reads or one each `deltaMs`. */
  readonly endless?: boolean;
  /** Sends one byte per this many milliseconds. */
  readonly drip?: number;
  /** Ends the stream with no finish reason, no usage and no end marker. */
  readonly noFinish?: boolean;
  /** Sends this verbatim as the stream instead of a rendered one; with `endless`, repeatedly. */
  readonly wire?: string;
  /** Leaves the connection open after the end of a `wire`. */
  readonly linger?: boolean;
  /** Resets the connection in place of an answer. */
  readonly refuse?: boolean;
}

/** A request body as far as this server looks into it. */
export interface ModelRequestBody {
  readonly model?: string;
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly messages?: readonly { readonly role?: string; readonly content?: unknown }[];
  readonly [key: string]: unknown;
}

/** The input of a script function. */
export interface ModelQuestion {
  readonly protocol: ModelProtocol;
  readonly body: ModelRequestBody;
  /** Text of the last user message; tool results do not count as one. */
  readonly userText: string;
  /** Assistant messages after it: 0 at the first model call of a turn. */
  readonly step: number;
}

export type Script = Reply | ((question: ModelQuestion) => Reply);

/** Finds the last user message and the step in a request of either protocol. */
export function questionOf(protocol: ModelProtocol, body: ModelRequestBody): ModelQuestion {
  const messages = Array.isArray(body.messages) ? body.messages : [];
  let step = 0;
  for (let i = messages.length - 1; i >= 0; i -= 1) {
    const message = messages[i];
    if (message?.role === 'assistant') step += 1;
    if (message?.role !== 'user') continue;
    const text = textOfContent(message.content);
    if (text !== undefined) return { protocol, body, userText: text, step };
  }
  return { protocol, body, userText: '', step };
}

/** The text of a message; undefined for a message that only brings tool results. */
function textOfContent(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  const blocks = content as readonly { type?: string; text?: string }[];
  if (blocks.length > 0 && blocks.every((block) => block.type === 'tool_result')) return undefined;
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : [])).join('\n');
}

const DIRECTIVE = /\[\[([a-z]+)=(.*?)\]\](?!\])/gs;
const TO_THE_END = new Set(['text', 'shell']);

/** Reads the directives of a text; of two with the same name the last counts. */
function directivesOf(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  if (!text.includes('[[')) return found;
  for (const [, name = '', rest = ''] of text.matchAll(DIRECTIVE)) {
    if (TO_THE_END.has(name)) {
      found.set(name, rest);
      continue;
    }
    for (const pair of `${name}=${rest}`.split(/\s+/)) {
      const equals = pair.indexOf('=');
      if (equals > 0) found.set(pair.slice(0, equals), pair.slice(equals + 1));
    }
  }
  return found;
}

/** The reply that a request's own directives ask for. */
export function replyFromDirectives({ userText, step }: ModelQuestion): Reply {
  const directives = directivesOf(userText);
  const number = (name: string): number | undefined => {
    const value = directives.get(name);
    return value === undefined ? undefined : Number(value);
  };
  const usage = usageFrom(number('input'), number('output'));
  const fail = number('fail');
  if (fail !== undefined) {
    const retry = directives.get('retry');
    return { status: fail, ...(retry === undefined ? {} : { headers: { 'retry-after': retry } }) };
  }
  const fileSteps = number('tools') ?? 0;
  if (step < fileSteps) {
    const note = directives.get('note');
    const content = `Written at step ${step + 1}.\n${note === undefined ? '' : `${note}\n`}`;
    const input = { path: `step-${step + 1}.txt`, content };
    return { ...usage, tools: [{ name: 'write_file', input }] };
  }
  const callSteps = fileSteps + (number('lists') ?? 0);
  if (step < callSteps) return { ...usage, tools: [{ name: 'list_files', input: {} }] };
  const command = directives.get('shell');
  if (command !== undefined && step === callSteps) return { ...usage, tools: [{ name: 'shell', input: { command } }] };
  return { ...usage, ...finalReply(directives, number) };
}

function finalReply(directives: ReadonlyMap<string, string>, number: (name: string) => number | undefined): Reply {
  const every = number('every');
  const first = number('first');
  const hang = directives.get('hang');
  const cut = number('cut');
  const broken = number('broken');
  const drip = number('drip');
  return {
    text: wordsOf(directives.get('text'), number('deltas')),
    stamp: directives.has('stamp'),
    endless: directives.has('endless'),
    noFinish: directives.has('nofinish'),
    refuse: directives.has('refuse'),
    html: directives.has('html'),
    afterDeltas: number('after') ?? 1,
    ...(every === undefined ? {} : { deltaMs: every }),
    ...(first === undefined ? {} : { firstMs: first }),
    ...(hang === undefined ? {} : { hang: hang as NonNullable<Reply['hang']> }),
    ...(cut === undefined ? {} : { cut }),
    ...(broken === undefined ? {} : { brokenJson: broken }),
    ...(drip === undefined ? {} : { drip }),
  };
}

function usageFrom(input: number | undefined, output: number | undefined): Pick<Reply, 'usage'> {
  if (input === undefined && output === undefined) return {};
  return { usage: { ...(input === undefined ? {} : { input }), ...(output === undefined ? {} : { output }) } };
}

/** The deltas of a text: the whole in one, or cut into `count` pieces of about the same length. */
function wordsOf(text: string | undefined, count: number | undefined): readonly string[] {
  if (text === undefined) return Array.from({ length: count ?? 1 }, (_, i) => `word${i} `);
  if (count === undefined || count <= 1) return [text];
  const characters = Array.from(text);
  const size = Math.max(1, Math.ceil(characters.length / count));
  const pieces: string[] = [];
  for (let i = 0; i < characters.length; i += size) pieces.push(characters.slice(i, i + size).join(''));
  return pieces;
}

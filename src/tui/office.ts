// `errand office` on a terminal: builds the view, runs it until its user quits, and leaves the terminal as it was.
import type { ReadStream, WriteStream } from 'node:tty';
import { render } from 'ink';
import type { Client } from '../client/client.ts';
import { App } from './app/app.ts';
import { startFeed } from './feed/feed.ts';
import { makeStore, type Store } from './app/store.ts';
import { h } from './screen/element.ts';
import { desk } from './state/desk-state.ts';
import { floor } from './state/screens.ts';
import { initialState, type Preferences, type ScreenState } from './state/state.ts';
import { openInput, type TerminalInput } from './terminal/input.ts';
import { openPager } from './terminal/pager.ts';
import { askBackground, copyToClipboard, enableMouse } from './terminal/modes.ts';
import { guardedOutput } from './terminal/output.ts';
import { backgroundFrom, backgroundInReply, depthFrom } from './theme/choose.ts';
import { type Background, type Theme, themeFor } from './theme/theme.ts';

const FRAMES_A_SECOND = 15;
const REPLY_MS = 150;

export interface OfficeOptions extends Preferences {
  readonly client: Client;
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Only this team's runs, to begin with. */
  readonly teamId: string | null;
  /** Opens this session's desk. */
  readonly sessionId: string | null;
  readonly signal: AbortSignal;
}

/** Shows the office. Resolves when the user quits or the signal aborts; the terminal is as before then. */
export async function runOffice(options: OfficeOptions): Promise<void> {
  const { client, stdin, stdout, environment, signal } = options;
  stdin.setRawMode(true);
  let input = openInput(stdin);
  try {
    const depth = depthFrom(environment);
    const theme = themeFor(depth, await backgroundOf(environment, depth === 'none', stdout, input));
    const now = () => Date.now();
    const store = makeStore(
      initialState({ tz: options.tz, intervalMs: options.intervalMs }, screensOf(options), now()),
      {
        frameMs: 1000 / FRAMES_A_SECOND,
        now,
        isBusy: () => stdout.writableNeedDrain,
      },
    );
    const feed = startFeed({ client, get: store.get, dispatch: store.dispatch, take: store.take, now });
    const stop = () => {
      feed.stop();
      store.close();
    };
    for (;;) {
      const text = await showScreens({ options, store, theme, now, stop }, input);
      if (text === null) break;
      input.close();
      stdin.setRawMode(false);
      const failure = await openPager(text, { environment, signal });
      if (signal.aborted) {
        stop();
        break;
      }
      stdin.setRawMode(true);
      input = openInput(stdin);
      if (failure !== null) store.dispatch({ type: 'notice', text: failure, at: now() });
    }
  } finally {
    input.close();
    stdin.setRawMode(false);
  }
}

interface Shown {
  readonly options: OfficeOptions;
  readonly store: Store;
  readonly theme: Theme;
  readonly now: () => number;
  /** Ends what feeds the view: nothing is drawn any more. */
  readonly stop: () => void;
}

/** Draws what the store has until the user quits or wants to read a text in a pager, which it answers. */
async function showScreens(
  { options, store, theme, now, stop }: Shown,
  input: TerminalInput,
): Promise<Iterable<string> | null> {
  const { client, stdout, signal } = options;
  const { promise: leaving, resolve: leave } = Promise.withResolvers<Iterable<string> | null>();
  const quit = () => leave(null);
  signal.addEventListener('abort', quit, { once: true });
  if (signal.aborted) quit();
  const copy = (text: string) => copyToClipboard(stdout, text);
  const ink = render(h(App, { client, store, theme, wheel: input.wheel, now, quit, copy, page: leave }), {
    stdin: input.keys,
    stdout: guardedOutput(stdout),
    alternateScreen: true,
    interactive: true,
    incrementalRendering: true,
    exitOnCtrlC: false,
    patchConsole: false,
    maxFps: FRAMES_A_SECOND,
  });
  const disableMouse = enableMouse(stdout);
  try {
    const text = await Promise.race([leaving, ink.waitUntilExit().then(() => null)]);
    if (text === null) stop();
    return text;
  } finally {
    signal.removeEventListener('abort', quit);
    ink.unmount();
    await ink.waitUntilExit();
    disableMouse();
  }
}

function screensOf({ teamId, sessionId }: OfficeOptions): readonly ScreenState[] {
  const first = floor({ teamId });
  return sessionId === null ? [first] : [first, desk(sessionId)];
}

async function backgroundOf(
  environment: OfficeOptions['environment'],
  isPlain: boolean,
  stdout: WriteStream,
  input: TerminalInput,
): Promise<Background> {
  const named = backgroundFrom(environment);
  if (named !== undefined || isPlain) return named ?? 'dark';
  const reply = input.reply(REPLY_MS);
  askBackground(stdout);
  return backgroundInReply((await reply) ?? '') ?? 'dark';
}

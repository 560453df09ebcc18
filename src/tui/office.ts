// `errand office` on a terminal: builds the view, runs it until its user quits, and leaves the terminal as it was.
import type { ReadStream, WriteStream } from 'node:tty';
import { render } from 'ink';
import type { Client } from '../client/client.ts';
import { App } from './app/app.ts';
import { startFeed } from './feed/feed.ts';
import { makeStore } from './app/store.ts';
import { h } from './screen/element.ts';
import { desk } from './state/desk-state.ts';
import { floor } from './state/screens.ts';
import { initialState, type Preferences, type ScreenState } from './state/state.ts';
import { openInput, type TerminalInput } from './terminal/input.ts';
import { askBackground, copyToClipboard, enableMouse } from './terminal/modes.ts';
import { guardedOutput } from './terminal/output.ts';
import { backgroundFrom, backgroundInReply, depthFrom } from './theme/choose.ts';
import { type Background, themeFor } from './theme/theme.ts';

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
  const input = openInput(stdin);
  let disableMouse = () => {};
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
    const { promise: quitting, resolve: quit } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => quit(), { once: true });
    const ink = render(
      h(App, { client, store, theme, wheel: input.wheel, now, quit, copy: (text) => copyToClipboard(stdout, text) }),
      {
        stdin: input.keys,
        stdout: guardedOutput(stdout),
        alternateScreen: true,
        interactive: true,
        incrementalRendering: true,
        exitOnCtrlC: false,
        patchConsole: false,
        maxFps: FRAMES_A_SECOND,
      },
    );
    disableMouse = enableMouse(stdout);
    const feed = startFeed({ client, get: store.get, dispatch: store.dispatch, take: store.take, now });
    if (!signal.aborted) await Promise.race([quitting, ink.waitUntilExit()]);
    feed.stop();
    store.close();
    ink.unmount();
    await ink.waitUntilExit();
  } finally {
    disableMouse();
    input.close();
    stdin.setRawMode(false);
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

// Where the log's lines go: written without waiting, buffered up to a limit, and counted when dropped.
import { fstatSync, writeSync } from 'node:fs';
import process from 'node:process';
import type { Writable } from 'node:stream';
import { MB } from '../domain/byte-units.ts';

/** Limit of all lines that wait for a slow reader. */
const MAX_HELD_BYTES = MB;

/** A destination that accepts lines, or refuses them. */
interface Taker {
  /** Returns false when the line was refused. */
  take(line: string): boolean;
  /** Whether a retry after a refusal makes sense. */
  isFree(): boolean;
}

export interface LogOutlet {
  write(line: string): void;
}

/** Converts a line of JSON to the text that is written instead, including the line end. */
export type RenderLine = (line: string) => string;

interface OutletOptions {
  readonly maxHeldBytes?: number;
  readonly render?: RenderLine;
}

/** How lines are written where standard error is a terminal, and where it is a pipe or a socket; as they are by default. */
export interface Renderers {
  readonly terminal?: RenderLine;
  readonly stream?: RenderLine | undefined;
}

/** The outlet to standard error. A file gets the lines as they are. */
export function standardErrorOutlet({ terminal, stream }: Renderers = {}): LogOutlet {
  const { stderr } = process;
  if (fstatSync(stderr.fd).isFile()) return makeOutlet(takerOfFile(stderr.fd));
  const render = stderr.isTTY ? terminal : stream;
  if (stderr.isTTY) keepFromBlocking(stderr);
  const outlet = makeStreamOutlet(stderr, render === undefined ? {} : { render });
  flushAtExit(outlet);
  return outlet;
}

/** Outlets to standard error. */
const flushed = new Set<StreamOutlet>();

/** One listener for all of them: each logger has one. */
function flushAtExit(outlet: StreamOutlet): void {
  if (flushed.size === 0) process.on('exit', () => flushed.forEach(({ flush }) => flush()));
  flushed.add(outlet);
}

/** Node.js waits for terminals; one that is stopped by Ctrl-S would stop the whole process at its next line. */
function keepFromBlocking(terminal: object): void {
  const { _handle: handle } = terminal as { readonly _handle?: { setBlocking?(isBlocking: boolean): unknown } };
  handle?.setBlocking?.(false);
}

export interface StreamOutlet extends LogOutlet {
  /** Writes what was gathered. */
  flush(): void;
}

/**
 * An outlet to a stream, whose errors are handled elsewhere. Lines are written together as soon as the code that wrote them has
 * returned, so that the last ones before a crash arrive. Once the limit is reached, lines are dropped until the buffer is empty;
 * then a line reports how many.
 */
export function makeStreamOutlet(
  stream: Writable,
  { maxHeldBytes = MAX_HELD_BYTES, render }: OutletOptions = {},
): StreamOutlet {
  let [isFull, isGathering] = [false, false];
  const flush = (): void => {
    if (isGathering) stream.uncork();
    isGathering = false;
  };
  const isRoom = (line: string): boolean =>
    stream.writableLength === 0 || stream.writableLength + line.length <= maxHeldBytes;
  const gather = (): void => {
    if (isGathering) return;
    isGathering = true;
    stream.cork();
    process.nextTick(flush);
  };
  /** Reports dropped lines as soon as possible, even when there is nothing else to log. */
  const resumeWhenDrained = (): void => {
    if (isFull) return;
    isFull = true;
    stream.once('drain', () => {
      isFull = false;
      outlet.resume();
    });
  };
  const taker: Taker = {
    take: (line) => {
      // The reader is gone.
      if (stream.destroyed) return true;
      // What was gathered may only seem to wait.
      if (!isRoom(line)) flush();
      if (!isRoom(line)) {
        resumeWhenDrained();
        return false;
      }
      gather();
      stream.write(line);
      return true;
    },
    isFree: () => stream.writableLength === 0,
  };
  const outlet = makeOutlet(taker, render);
  return { write: outlet.write, flush };
}

/** A file on a full disk accepts nothing; that is not a reason to exit. */
function takerOfFile(fd: number): Taker {
  return {
    take: (line) => {
      try {
        writeSync(fd, line);
        return true;
      } catch {
        return false;
      }
    },
    isFree: () => true,
  };
}

function makeOutlet({ take, isFree }: Taker, render: RenderLine = (line) => line): LogOutlet & { resume(): void } {
  let dropped = 0;
  const resume = (): void => {
    if (dropped > 0 && isFree() && take(render(droppedLine(dropped)))) dropped = 0;
  };
  return {
    resume,
    write: (line) => {
      resume();
      if (dropped > 0 || !take(render(line))) dropped += 1;
    },
  };
}

function droppedLine(dropped: number): string {
  const time = new Date().toISOString();
  const msg = `${dropped} lines dropped: the log could not be written`;
  return `${JSON.stringify({ level: 'warn', time, dropped, msg })}\n`;
}

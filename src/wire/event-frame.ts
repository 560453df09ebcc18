// A server-sent event as bytes.

interface ServerSentEvent {
  /** Null makes a data-only event. */
  readonly name: string | null;
  /** On one line. */
  readonly data: string;
  /** Null leaves the reader's last id as it is. */
  readonly id: number | null;
}

/** The bytes of an event. */
export function eventFrame({ name, data, id }: ServerSentEvent): Buffer {
  const idLine = id === null ? '' : `id: ${id}\n`;
  const nameLine = name === null ? '' : `event: ${name}\n`;
  return Buffer.from(`${idLine}${nameLine}data: ${data}\n\n`);
}

// Asks from a thread of its own, so that what a client does takes nothing of the thread that is measured.
import { request } from 'node:http';
import { parentPort } from 'node:worker_threads';

/** A stream that stays open has been read once nothing has come for this long. */
const QUIET_MS = 300;
const KEPT_CHARACTERS = 2_000;
/** Of a stream or a file, no more is read. */
const MANY_BYTES = 8 * 1024 * 1024;

const prepared = new Map();

parentPort.on('message', ({ id, ask }) => {
  if (ask !== undefined) {
    prepared.set(id, { ...ask, body: ask.body?.map(([text, times]) => text.repeat(times)).join('') });
    parentPort.postMessage({ id }, []);
    return;
  }
  const { url, method, headers, body, staysOpen } = prepared.get(id);
  prepared.delete(id);
  const type =
    body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const asked = request(url, { method, headers: { ...type, ...headers }, agent: false });
  asked.on('response', (response) => {
    let [text, bytes] = ['', 0];
    let quiet;
    const wait = () => {
      if (!staysOpen) return;
      clearTimeout(quiet);
      quiet = setTimeout(() => asked.destroy(), QUIET_MS);
    };
    wait();
    response.on('data', (chunk) => {
      if (text.length < KEPT_CHARACTERS) text += chunk.toString();
      bytes += chunk.length;
      if (staysOpen && bytes >= MANY_BYTES) asked.destroy();
      wait();
    });
    response.on('error', () => undefined);
    response.on('close', () => {
      clearTimeout(quiet);
      parentPort.postMessage({ id, reply: { status: response.statusCode, text } }, []);
    });
  });
  asked.on('error', (error) => parentPort.postMessage({ id, reply: { status: 0, text: String(error) } }, []));
  asked.end(body);
});

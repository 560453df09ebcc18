// The bytes of a request's body. Its tools, mostly the same in all calls and longer than the rest, are written once.
import { remember } from '../../domain/remember.ts';
import type { JsonObject, JsonValue } from '../../domain/json.ts';

const FIELD = Buffer.from(',"tools":');
const CLOSING_BRACE = 0x7d;

const bytesOf = remember((tools: readonly JsonValue[]) => Buffer.from(JSON.stringify(tools)));

/** Writes a body as JSON in UTF-8. A list of tools must not be changed afterwards. */
export function writeBody(body: JsonObject): Buffer {
  const { tools, ...rest } = body;
  const head = JSON.stringify(rest);
  if (!Array.isArray(tools) || head === '{}') return Buffer.from(JSON.stringify(body));
  const list = bytesOf(tools);
  // The brace at its end makes room for the field.
  const headBytes = Buffer.byteLength(head) - 1;
  const whole = Buffer.allocUnsafe(headBytes + FIELD.length + list.length + 1);
  whole.write(head);
  FIELD.copy(whole, headBytes);
  list.copy(whole, headBytes + FIELD.length);
  whole[whole.length - 1] = CLOSING_BRACE;
  return whole;
}

// The headers that a collector asks for, such as its token: a file with a line for each.
import { readSecret, type SecretForm, type SecretLocations } from '../../catalog/reading/secret-file.ts';
import { ErrandError } from '../../domain/errors.ts';

const LINE = /^([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \t]*([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)[ \t]*$/;
/** What the exporter sets itself. */
const OWN = new Set(['content-type', 'content-length', 'host', 'connection', 'transfer-encoding']);

const linesOf = (text: string) => text.split(/\r?\n/).filter((line) => line.trim() !== '');
const nameIn = (line: string) => LINE.exec(line)?.[1]?.toLowerCase();

const FORM: SecretForm = {
  passes: (text) => linesOf(text).every((line) => nameIn(line) !== undefined && !OWN.has(nameIn(line)!)),
  mustHold: 'must contain lines such as "authorization: Bearer …"',
};

/**
 * The headers in the file that `reference` names: an absolute path, one relative to the config directory, or
 * `credential:NAME`; none for an empty reference. Throws `bad_request` when they can't be read.
 */
export function readHeadersFile(reference: string, locations: SecretLocations): Readonly<Record<string, string>> {
  if (reference === '') return {};
  const read = readSecret(reference, locations, FORM);
  if (!read.ok) throw new ErrandError('bad_request', `traces.headers_file ${read.why}`);
  return Object.fromEntries(
    linesOf(read.secret).map((line) => {
      const [, name = '', value = ''] = LINE.exec(line) ?? [];
      return [name.toLowerCase(), value];
    }),
  );
}

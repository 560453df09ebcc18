// Blots secrets out of texts that leave the installation: those that are known, and whatever has the form of one.
import { makeRedactor } from './redact.ts';

export type Blot = (text: string) => string;

const REMOVED = '[removed]';
const CREDENTIAL = '[credential]';

/** Names whose values are secret. */
const SECRET_NAME =
  'password|passwd|passphrase|secret|token|api[_-]?key|apikey|authorization|credential|private[_-]?key|access[_-]?key|cookie';

/** Whether the value of something with this name is secret. */
export function isSecretName(name: string): boolean {
  return new RegExp(SECRET_NAME, 'i').test(name);
}

/**
 * What has the form of a secret. What a pattern keeps is in its first group. The texts are hostile: from no start may a pattern
 * read on to the end and fail, or a long text takes the square of its length.
 */
const FORMS: readonly RegExp[] = [
  // Keys of Errand, its login tokens, secrets of webhooks.
  /()errand_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{20,}/g,
  /()(?<![\w-])eyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*/g,
  /()whsec_[A-Za-z0-9+/=_-]{8,}/g,
  // Signed addresses, and pages that whoever has the address may read.
  /(\/files\/)[\w-]+\.[\w-]+\.[\w-]+/g,
  /(\/share\/(?:p\/)?)[A-Za-z0-9_-]{10,}/g,
  // Keys of well-known services.
  /()\b(?:sk|pk|rk|key|xox[abprs]|glpat)-[\w-]{12,}/g,
  /()\bgh[pousr]_\w{16,}/g,
  /()\bAKIA[A-Z0-9]{12,}/g,
  /()-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  // Credentials of requests, and in addresses.
  /(\b(?:bearer|basic|digest)\s+)[\w.~+/=-]{6,}/gi,
  /(:\/\/)[^/\s"'@]+@/g,
  new RegExp(
    String.raw`([?&][^?=&\s"']{0,64}(?:${SECRET_NAME}|sig|signature|code|key)[^?=&\s"']{0,64}=)[^&\s"'#]+`,
    'gi',
  ),
  // Values with such a name. Numbers, words of JSON and paths are none.
  new RegExp(
    String.raw`((?:${SECRET_NAME})[\w.-]{0,64}\\?["']?\s{0,16}[:=]\s{0,16}\\?["']?)(?!\[removed\]|\d+(?:\.\d+)?(?![\w-])|true\b|false\b|null\b|\/|credential:)[^\s"',}\]\\]{4,}`,
    'gi',
  ),
];

/** What a secret is made of that can be one of many. */
const WORD = /[\w.~+/=-]{8,}/g;
const ENDS: ReadonlySet<string> = new Set('.=/');

/**
 * Makes the blot for some known secrets, which are found in every encoding of decision 15, and for any number of others, which
 * are found as whole words.
 */
export function makeBlot(secrets: readonly string[], words: ReadonlySet<string> = new Set()): Blot {
  const redact = makeRedactor(secrets);
  const withoutWords = (text: string) =>
    words.size === 0 ? text : text.replace(WORD, (word) => (hasSecret(word, words) ? CREDENTIAL : word));
  return (text) => FORMS.reduce((left, form) => left.replace(form, `$1${REMOVED}`), withoutWords(redact(text).text));
}

/** The word itself, without the dot of a sentence, or what follows a sign of equality in it. */
function hasSecret(word: string, words: ReadonlySet<string>): boolean {
  let end = word.length;
  while (end > 0 && ENDS.has(word[end - 1]!)) end -= 1;
  const from = word.indexOf('=') + 1;
  return [word, word.slice(0, end), word.slice(from), word.slice(from, end)].some((part) => words.has(part));
}

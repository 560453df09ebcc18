// Log-ins of browsers to Office Mode (0054): how long they last, and how many there may be.

/** How long a code can be exchanged for a cookie, once. */
export const CODE_MS = 5 * 60_000;
/** How long a cookie is good, if nothing ends it before. */
export const COOKIE_MS = 8 * 3_600_000;
/** How long it is known of one that has ended why it is refused. */
export const KNOWN_MS = 10 * 60_000;
/** Log-ins that haven't ended: of one key, or of all operators behind the control socket, and in all. */
export const MOST_OF_KEY = 50;
export const MOST_IN_ALL = 1_000;

/** Why a code is refused. */
export type CodeRefusal = 'unknown' | 'used' | 'late';

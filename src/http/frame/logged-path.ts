// What the log says of the path of a request. Some addresses are as good as a key, so their secrets are left out.

const SIGNED_FILE = /^\/files\/[^/]+\//;

/** Of pages and shares, for people, for programs and for their owners: up to the code and its first four characters. */
const PUBLISHED = /^(\/share\/(?:p\/|(?!static\/))|\/api\/v1\/(?:public\/)?(?:shares|publishes)\/)([^/]{4})[^/]+/;

/** The path as the log may have it: without signatures of files, and with the first four characters of keys and share codes. */
export function loggedPath(path: string): string {
  return path.replace(SIGNED_FILE, '/files/…/').replace(PUBLISHED, '$1$2…');
}

// The welcome of a new daemon: its administrator, and two ways to try it.
import { shellWord } from '../../terminal/shell-word.ts';
import type { Created } from '../frame/io.ts';

/** The credentials, which are shown only once. */
export function credentialsText({ dataDir, configDir, admin, apiKey }: Created): string {
  return `Errand created its data directory in ${dataDir}
Its configuration is in ${configDir}

  Administrator  ${admin.username}
  Password       ${admin.password}
  API key        ${apiKey.key}

Store them: they are shown only now.
`;
}

/** Parts of the lines to paste: where the daemon listens (a base URL, or `unix:/path`), the shell word that produces the key, and how to call the program here. */
export interface FirstSteps {
  readonly url: string;
  readonly key: string;
  readonly command: string;
}

/** How to try it: the key for the shell, a curl line and a chat line, to paste. */
export function firstStepsText({ url, key, command }: FirstSteps): string {
  const body = JSON.stringify({ model: 'errand', messages: [{ role: 'user', content: 'write notes.md: Hello!' }] });
  return `Listening on ${url}

Try it:

  export ERRAND_API_KEY=${key}

  curl ${curlTarget(url)}/openapi/v1/messages \\
    -H "x-api-key: $ERRAND_API_KEY" -H 'content-type: application/json' \\
    -d '${body}'

  ${command} chat --stream 'write notes.md: Hello!'
`;
}

function curlTarget(url: string): string {
  const path = /^unix:(.*)$/.exec(url)?.[1];
  return path === undefined ? url : `--unix-socket ${shellWord(path)} http://localhost`;
}

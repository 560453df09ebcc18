// The first words of a new daemon: who its administrator is, and two ways to try it at once.
import type { Created } from '../frame/io.ts';

/** The credentials, shown this once. */
export function credentialsText({ dataDir, configDir, admin, apiKey }: Created): string {
  return `Errand has a new home in ${dataDir}
Its configuration is in ${configDir}

  Administrator  ${admin.username}
  Password       ${admin.password}
  API key        ${apiKey.key}

Keep them: they are shown this once.
`;
}

/** What the steps take from whoever pastes them: the shell word that gives the key, and how the program is called here. */
export interface FirstSteps {
  readonly url: string;
  readonly key: string;
  readonly command: string;
}

/** How to try it: the key for the shell, a curl line and a chat line, to be pasted. */
export function firstStepsText({ url, key, command }: FirstSteps): string {
  const body = JSON.stringify({ model: 'errand', messages: [{ role: 'user', content: 'write notes.md: Hello!' }] });
  return `Listening on ${url}

Try it:

  export ERRAND_API_KEY=${key}

  curl ${url}/openapi/v1/messages \\
    -H "x-api-key: $ERRAND_API_KEY" -H 'content-type: application/json' \\
    -d '${body}'

  ${command} chat --stream 'write notes.md: Hello!'
`;
}

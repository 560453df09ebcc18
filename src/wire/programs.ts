// What programs with a key, and anybody, may ask: the conversation protocols, and the sessions of the key (§4).
import { KB } from '../domain/byte-units.ts';
import { isJsonObject } from '../domain/json.ts';
import { chatStreamData, completion, modelOfKey, models as ownModels } from './chat/completion.ts';
import { chatRequest } from './chat/request.ts';
import { rejoinHeaders, turnHeaders } from './conversations/headers.ts';
import { endpoints, idOf } from './endpoint.ts';
import { pageOf, pageQuery } from './listing.ts';
import { backgroundMessage, conversationReply, tokenCount } from './messages/message.ts';
import { messagesRequest } from './messages/request.ts';
import { messagesStreamEvent } from './messages/stream-event.ts';
import { grant, loginToken } from './people/token.ts';
import { responseInPath, responseQuery, responsesRequest } from './responses/request.ts';
import { inputItems, inputItemsQuery } from './responses/input-items.ts';
import { deletedResponse, response } from './responses/response.ts';
import { responsesStreamEvent } from './responses/stream-event.ts';
import { followQuery } from './shapes/query.ts';
import { runArtifacts, sessionArtifacts } from './sessions/artifact.ts';
import { history } from './sessions/history.ts';
import { deletion, forking, ownSession, sessionCapabilities, stop } from './sessions/session.ts';
import { anyOf } from './shapes/shape.ts';
import { health, readiness } from './status.ts';

/** Largest body of a grant in bytes: anyone may send one. */
const MAX_GRANT_BYTES = 64 * KB;

/** An event of a run's stream, in the protocol that started the run (C12). */
const conversationEvent = anyOf(
  'must be an event',
  { ...responsesStreamEvent, admits: (value) => isJsonObject(value) && 'sequence_number' in value },
  { ...messagesStreamEvent, admits: (value) => isJsonObject(value) && 'type' in value },
  chatStreamData,
);

const turn = { takesAttachments: true, headers: turnHeaders } as const;
const stream = { query: followQuery, headers: rejoinHeaders, events: conversationEvent, sse: true } as const;
const run = { params: { id: idOf('Run') } };
const ofResponse = { params: { id: responseInPath } };
const session = { params: { id: idOf('Session') } };

// biome-ignore format: a table reads best with one endpoint a line
export const programs = {
  ...endpoints('none', 'bare', {
    logIn: { route: 'POST /openapi/v1/auth/token', summary: 'Log in: exchange a password, an SSO token or an API key for a login token', body: grant, maxBodyBytes: MAX_GRANT_BYTES, reply: loginToken },
  }),
  ...endpoints('key', 'bare', {
    messages: { route: 'POST /openapi/v1/messages', summary: 'Send a turn in the Messages protocol: waited for, streamed, or in the background', ...turn, body: messagesRequest, events: messagesStreamEvent, reply: conversationReply, statuses: [200, 202] },
    countTokens: { route: 'POST /openapi/v1/messages/count_tokens', summary: 'Estimate the tokens of a turn in the Messages protocol', ...turn, body: messagesRequest, reply: tokenCount },
  }),
  ...endpoints('key', 'chat', {
    chat: { route: 'POST /openapi/v1/chat/completions', summary: 'Send a turn in the chat-completions protocol: waited for or streamed', ...turn, body: chatRequest, events: chatStreamData, reply: completion },
  }),
  ...endpoints('key', 'chat', {
    responses: { route: 'POST /openapi/v1/responses', summary: 'Send a turn in the Responses protocol: waited for, streamed, or in the background', ...turn, body: responsesRequest, events: responsesStreamEvent, reply: response },
    getResponse: { route: 'GET /openapi/v1/responses/:id', summary: 'Look up a response, or follow its stream', ...ofResponse, query: responseQuery, events: responsesStreamEvent, reply: response },
    cancelResponse: { route: 'POST /openapi/v1/responses/:id/cancel', summary: 'Stop the run of a response', ...ofResponse, reply: response },
    deleteResponse: { route: 'DELETE /openapi/v1/responses/:id', summary: 'Delete a response with its session, which has no other', ...ofResponse, reply: deletedResponse },
    inputItems: { route: 'GET /openapi/v1/responses/:id/input_items', summary: 'Read what a response was asked', ...ofResponse, query: inputItemsQuery, reply: inputItems },
  }),
  ...endpoints('key', 'bare', {
    poll: { route: 'GET /openapi/v1/runs/:id', summary: 'Look up a background run', reply: backgroundMessage, isSmall: true },
    rejoin: { route: 'GET /openapi/v1/runs/:id/stream', summary: 'Follow a run, in the protocol that began it', ...run, ...stream },
    listSessions: { route: 'GET /openapi/v1/sessions', summary: 'List the sessions of the key', query: pageQuery, reply: pageOf(ownSession) },
    history: { route: 'GET /openapi/v1/sessions/:id/messages', summary: 'Read the history of a session', ...session, reply: history },
    artifacts: { route: 'GET /openapi/v1/sessions/:id/artifacts', summary: 'List the files of a session', ...session, reply: sessionArtifacts },
    runArtifacts: { route: 'GET /openapi/v1/runs/:id/artifacts', summary: 'List the files that a run added or changed', ...run, reply: runArtifacts },
    capabilityConfig: { route: 'GET /openapi/v1/sessions/:id/capability-config', summary: 'Read what the agent of a session can use', operation: 'getCapabilityConfig', ...session, reply: sessionCapabilities },
    stop: { route: 'POST /openapi/v1/sessions/:id/stop', summary: 'Stop the runs of a session', operation: 'stopSession', ...session, reply: stop },
    fork: { route: 'POST /openapi/v1/sessions/:id/fork', summary: 'Open a session that begins with the conversation of another one', ...session, ...forking },
    remove: { route: 'DELETE /openapi/v1/sessions/:id', summary: 'Delete a session with its files', operation: 'deleteSession', ...session, reply: deletion },
  }),
  ...endpoints('key', 'chat', {
    models: { route: 'GET /openapi/v1/models', summary: 'List the model of the key', reply: ownModels },
    model: { route: 'GET /openapi/v1/models/:id', summary: 'Read the model of the key', reply: modelOfKey },
  }),
  ...endpoints('none', 'bare', {
    file: { route: 'GET /files/:address/:name', summary: 'Download a file at its signed address', sendsFile: true },
    alive: { route: 'GET /healthz', summary: 'Whether the daemon answers at all', reply: health, isSmall: true },
    ready: { route: 'GET /readyz', summary: 'Whether the daemon takes new turns', reply: readiness, isSmall: true, statuses: [200, 503] },
  }),
};

// An event of a run's stream, in the protocol that started the run (C12).
import { isJsonObject } from '../../domain/json.ts';
import { chatStreamData } from '../chat/completion.ts';
import { messagesStreamEvent } from '../messages/stream-event.ts';
import { anyOf } from '../shape.ts';

export const conversationEvent = anyOf(
  'must be an event',
  { ...messagesStreamEvent, admits: (value) => isJsonObject(value) && 'type' in value },
  chatStreamData,
);

// Rules of decisions on running the daemon: what it reports of itself.
import type { Rule } from './rule.ts';

export const RULES_OF_OPERATION: readonly Rule[] = [
  {
    id: 'K5 first start',
    text: '/healthz is 200 once the daemon is ready: after a first start, once its credentials have been shown or are in their file.',
    proofs: {
      'daemon/readiness.test.ts': ['a first start is alive and ready only once its credentials have been shown'],
      'cli/nouns/daemon/serve.test.ts': ['a daemon is reported as ready after its credentials have been shown'],
    },
  },
  {
    id: 'K7 webhooks',
    text: 'webhooks create takes --session-kind, and durations for its timeout and its backoff.',
    proofs: {
      'cli/nouns/webhooks/webhooks.test.ts': [
        'a webhook is created with %s, and its generated secret is shown once',
        '%s is a usage error',
      ],
    },
  },
  {
    id: 'L8',
    text: '/readyz is 503 while new turns are refused: while it drains, without its database, below disk.keep_free_mb.',
    proofs: {
      'daemon/readiness.test.ts': [
        'below disk.keep_free_mb /readyz is 503 with Retry-After, as turns are, and 200 again above it',
      ],
      'acceptance/faults/crash.test.ts': [
        'a drain is reported at once, lets streams continue for their time, and the stream is rejoined without loss or duplicates',
      ],
      'acceptance/faults/storage-trouble.test.ts': [
        'a lock that outlasts every wait refuses turns in words, and costs a run neither its answer nor a resume',
      ],
    },
  },
];

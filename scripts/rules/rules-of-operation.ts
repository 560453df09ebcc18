// Rules of decisions on running the daemon: what it refuses, and what it reports of itself.
import type { Rule } from './rule.ts';

export const RULES_OF_OPERATION: readonly Rule[] = [
  {
    id: '§6.5 has_artifacts',
    text: 'summary.has_artifacts of the end of a run is true only when the run has left files.',
    proofs: {
      'webhooks/held-files.test.ts': [
        'the end of a run %s is sent once that is known, and says so',
        'a look that takes too long is not waited for, and later changes nothing of what may have been sent',
      ],
      'acceptance/webhooks/webhooks.test.ts': [
        'the end of a run says that there are artifacts if there are, and they can be fetched then',
      ],
    },
  },
  {
    id: 'A4 limits of a body',
    text: 'A body with too many values, names, levels or too much text is refused with the path of the value that is too much.',
    proofs: {
      'http/body/json-scan.test.ts': [
        'a refusal names the path %s, whatever the chunks',
        'values are counted exactly, and the first beyond is named: %s',
        'text beyond what may be parsed is refused at the value that is too much, and long strings do not count',
      ],
    },
  },
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

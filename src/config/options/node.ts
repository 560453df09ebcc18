// Settings of what this node says of itself to the others of the installation.
import { list, text } from '../../catalog/reading/schema.ts';
import { TEAM_NAME } from '../../domain/people/names.ts';
import type { Options } from '../option.ts';

const LABEL = /^[A-Za-z0-9][A-Za-z0-9._/=-]{0,62}$/;

export const NODE_OPTIONS = {
  'node.name': {
    schema: text(
      '1 to 64 characters without blanks at its ends, or empty',
      (name) => name === '' || TEAM_NAME.test(name),
    ),
    fallback: '',
    about: 'Its name in `errand nodes`, `errand status` and the metrics. Empty: the name of the host.',
    isOfNode: true,
  },
  'node.labels': {
    schema: list(
      text('1 to 63 letters, digits and ._/=-, such as zone=a', (label) => LABEL.test(label)),
      'labels',
      16,
    ),
    fallback: [],
    about: 'Words by which operators tell nodes apart, such as [zone=a, gpu]. `errand nodes list` shows them.',
    isOfNode: true,
  },
} satisfies Options;

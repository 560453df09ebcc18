// Settings of where the bytes of files are kept.
import { choice, flag, text } from '../../catalog/reading/schema.ts';
import { isPublicUrl } from '../listen-address.ts';
import { megabytes, type Options } from '../option.ts';

const isPath = (value: string) => value === value.trim() && !value.includes('\0');
const isHost = (value: string) =>
  value === '' || (isPublicUrl(value) && !value.endsWith('/') && new URL(value).pathname === '/');
const isBucket = (value: string) => /^$|^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(value);
const isPrefix = (value: string) => /^(?:[\w.-]+\/)*$/.test(value) && value.length <= 512;

export const BLOB_OPTIONS = {
  'blobs.cache_mb': {
    schema: megabytes(64, 100_000_000),
    fallback: 10_240,
    about:
      'Megabytes of local copies that are kept of what is in the bucket; those that were used longest ago go first. What has ' +
      'still to be put there comes on top.',
    isOfNode: true,
  },
  'blobs.redirect': {
    schema: flag(),
    fallback: false,
    about:
      'Whether downloads of what is in the bucket lead there, by a redirect to an address that is valid for five minutes. ' +
      'Clients must reach the bucket. What browsers show by themselves is sent by the daemon.',
  },
  'blobs.s3.endpoint': {
    schema: text('an http or https address without a path, such as https://s3.eu-central-1.amazonaws.com', isHost),
    fallback: '',
    about:
      'Address of an S3 service that has the bytes of files, such as https://s3.eu-central-1.amazonaws.com. Empty: they are ' +
      'in the data directory. Read only at start. See docs/S3.md.',
  },
  'blobs.s3.region': {
    schema: text('the name of a region', (value) => /^[\w-]{1,64}$/.test(value)),
    fallback: 'us-east-1',
    about: 'Region that requests to it are signed for. Read only at start.',
  },
  'blobs.s3.bucket': {
    schema: text('the name of a bucket', isBucket),
    fallback: '',
    about: 'Bucket, which must exist. Read only at start.',
  },
  'blobs.s3.prefix': {
    schema: text(
      'empty, or names of letters, digits, dots, dashes and underscores that each end with a slash',
      isPrefix,
    ),
    fallback: '',
    about: 'What the names of all objects begin with, such as errand/. Nothing else may be there. Read only at start.',
  },
  'blobs.s3.path_style': {
    schema: flag(),
    fallback: true,
    about:
      'Whether addresses have the bucket in their path. Otherwise it stands before the host, as some services require. Read ' +
      'only at start.',
  },
  'blobs.s3.key_file': {
    schema: text('a path, or credential:NAME', isPath),
    fallback: '',
    about:
      'File with the key of the service on one line, ACCESS_KEY_ID:SECRET_ACCESS_KEY. Absolute, relative to the config ' +
      'directory, or credential:NAME. It is read again when it changes.',
    isOfNode: true,
  },
  'blobs.s3.ca_file': {
    schema: text('a path, or credential:NAME', isPath),
    fallback: '',
    about: 'PEM file with issuers that are trusted for it in addition, in the same forms. Read only at start.',
    isOfNode: true,
  },
  'blobs.s3.encryption': {
    schema: choice(['', 'AES256', 'aws:kms']),
    fallback: '',
    about:
      'Encryption that is asked for each object: AES256, or aws:kms. Empty: that of the bucket. Read only at start.',
  },
  'blobs.s3.kms_key': {
    schema: text('the id of a key', (value) => /^[\w:/.-]{0,256}$/.test(value)),
    fallback: '',
    about: 'Key for aws:kms. Empty: that of the account. Read only at start.',
  },
} satisfies Options;

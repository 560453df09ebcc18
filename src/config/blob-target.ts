// Which bucket has the bytes of files, from the settings and the files that they name.
import { readCaFile } from '../catalog/reading/ca-file.ts';
import { type Problem, problemOutside } from '../catalog/reading/problem.ts';
import { isOutOfReach, readSecret, type SecretForm, type SecretLocations } from '../catalog/reading/secret-file.ts';
import type { Settings } from '../domain/settings.ts';
import type { S3Key, S3Target } from '../files/blobs/s3/target.ts';

type BlobSettings = Pick<Settings, 'blobs'>;

const KEY = /^([\w-]{1,128}):([\x21-\x39\x3b-\x7e]{1,256})$/;
const KEY_FORM: SecretForm = {
  passes: (secret) => KEY.test(secret),
  mustHold: 'must contain ACCESS_KEY_ID:SECRET_ACCESS_KEY on one line',
};

/** The problems of the files that the settings name. None contains a secret. */
export function checkBlobFiles({ blobs: { s3 } }: BlobSettings, locations: SecretLocations): readonly Problem[] {
  if (s3.endpoint === '') return [];
  const problems: string[] = [];
  const authority = readCaFile(s3.caFile, locations);
  if (!authority.ok) problems.push(`blobs.s3.ca_file ${authority.why}`);
  if (isOutOfReach(s3.keyFile, locations)) locations.unresolved?.add(s3.keyFile);
  else {
    const key = readKey(s3.keyFile, locations);
    if ('why' in key) problems.push(`blobs.s3.key_file ${key.why}`);
  }
  return problems.map(problemOutside);
}

/** Whether the settings name one. */
export const hasBucket = ({ blobs }: BlobSettings): boolean => blobs.s3.endpoint !== '';

/** The bucket; null for the data directory. A key that can't be read fails each request in words. */
export function blobTargetOf({ blobs: { s3 } }: BlobSettings, locations: SecretLocations): S3Target | null {
  if (s3.endpoint === '') return null;
  const authority = readCaFile(s3.caFile, locations);
  const { endpoint, region, bucket, prefix, pathStyle, encryption: kind, kmsKey } = s3;
  return {
    endpoint,
    region,
    bucket,
    prefix,
    pathStyle,
    caFile: authority.ok ? authority.path : null,
    encryption: kind === '' ? null : { kind, kmsKey },
    key: () => readKey(s3.keyFile, locations),
  };
}

function readKey(reference: string, locations: SecretLocations): S3Key | { readonly why: string } {
  const read = readSecret(reference, locations, KEY_FORM);
  if (!read.ok) return { why: read.why };
  const [, id, secret] = KEY.exec(read.secret)!;
  return { id: id!, secret: secret! };
}

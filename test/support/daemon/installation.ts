// Several daemons of one installation: on one database, and one bucket.
import { join } from 'node:path';
import { type Of, temporaryDirectory } from '../files/temporary-directory.ts';
import { faultyS3, type FaultyS3, S3_BUCKET, S3_KEY } from '../s3/faulty-s3.ts';
import { type DaemonOptions, type DaemonProcess, startDaemonProcess } from './daemon-process.ts';

export interface Installation {
  /** In the order of their start, so that the first one leads. They are named `north`, `south`, `east` and so on. */
  readonly nodes: readonly DaemonProcess[];
  readonly s3: FaultyS3;
  /** Starts one more. */
  add(): Promise<DaemonProcess>;
}

type Options = Pick<DaemonOptions, 'modelServerUrl' | 'modelsYaml' | 'errandYaml' | 'database' | 'within'>;

const NAMES = ['north', 'south', 'east', 'west'];

/** Starts so many. `errandYaml`: what more their settings have. */
export async function startInstallation(
  count: number,
  { errandYaml = '', ...options }: Options,
  of: Of,
): Promise<Installation> {
  const s3 = await faultyS3(of);
  const keyFile = join(temporaryDirectory({ key: `${S3_KEY.id}:${S3_KEY.secret}\n` }, of), 'key');
  const s3Settings = { endpoint: s3.target.endpoint, bucket: S3_BUCKET, prefix: 'errand/', key_file: keyFile };
  const settings = `blobs: { s3: ${JSON.stringify(s3Settings)} }\n${errandYaml}`;
  const nodes: DaemonProcess[] = [];
  const add = async () => {
    const [first] = nodes;
    const node = await startDaemonProcess({
      ...options,
      errandYaml: `node: { name: ${NAMES[nodes.length]} }\n${settings}`,
      ...(first !== undefined && { joins: first }),
    });
    of.onTestFinished(() => node.close());
    nodes.push(node);
    return node;
  };
  for (let at = 0; at < count; at += 1) await add();
  return { nodes, s3, add };
}

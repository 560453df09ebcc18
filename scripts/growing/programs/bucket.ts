// The S3 service of the walk, s3rver: `node bucket.ts ADDRESS PORT DIRECTORY BUCKET`. It ends with its standard input.
import process from 'node:process';
import S3rver from 's3rver';

const [, , address = '', port = '', directory = '', name = ''] = process.argv;
await new S3rver({ address, port: Number(port), silent: true, directory, configureBuckets: [{ name }] }).run();
process.stdin.resume().on('end', () => process.exit());

// An S3 server, s3rver, for the nodes of a storm: `node bucket-main.ts DIRECTORY BUCKET PORT` prints its port; it ends with its standard
// input.
import S3rver from 's3rver';

const [, , directory = '', name = '', wanted = '0'] = process.argv;
const configureBuckets = [{ name }];
const server = new S3rver({ address: '127.0.0.1', port: Number(wanted), silent: true, directory, configureBuckets });
const { port } = await server.run();
process.stdin.resume().on('end', () => process.exit());
process.stdout.write(`${port}\n`);

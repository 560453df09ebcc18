// Checks the Node.js version before any modern syntax is loaded, then starts the program. Plain ES5 on purpose.
var parts = process.versions.node.split('.');
var major = Number(parts[0]);
var minor = Number(parts[1]);
if (major < 22 || (major === 22 && minor < 22)) {
  process.stderr.write(
    'errand: needs Node.js >= 22.22, but this is ' +
      process.version +
      ' (' +
      process.execPath +
      '). Install a newer Node, or set ERRAND_NODE to one.\n',
  );
  process.exitCode = 78;
} else {
  import('../dist/main.js').catch(function (error) {
    if (error && error.code === 'ERR_MODULE_NOT_FOUND' && /dist.main\.js/.test(String(error.message))) {
      process.stderr.write('errand: dist/ is missing. Build it first: npm run build\n');
    } else {
      process.stderr.write('errand: ' + (error && error.stack ? error.stack : error) + '\n');
    }
    process.exitCode = 1;
  });
}

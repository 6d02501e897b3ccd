// Takes a lock three times at a server that answers lines: TAKE, GIVE. Arguments: its name, the port.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const [name, port] = process.argv.slice(2);
const server = connect(Number(port), '127.0.0.1');
const answers = createInterface({ input: server })[Symbol.asyncIterator]();

async function ask(question) {
  server.write(`${question}\n`);
  return (await answers.next()).value;
}

for (let turn = 0; turn < 3; turn += 1) {
  while ((await ask(`TAKE ${name}-${randomBytes(4).toString('hex')}`)) !== 'OK') {
    await sleep(10 + 20 * Math.random());
  }
  console.log(`${Date.now()} got ${turn} ${performance.now().toFixed(3)} ${process.pid}`);
  await sleep(20);
  await ask('GIVE');
}
server.end();

// Client libraries of Node against `lockstep serve --step` of restart.toml: node locks.js LIBRARY PORT, with NODE_PATH. All with
// their defaults but for the times that they wait. Prints "LIBRARY VERSION agrees" or what does not.

'use strict';

const [library, port] = [process.argv[2], Number(process.argv[3])];
const closing = [];

function expect(condition, what) {
  if (!condition) throw new Error(what);
}

/** Whether the promise fails: the library tells that the lock is gone. */
async function fails(promise) {
  return promise.then(() => false, () => true);
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Whether a promise is still open after a while. */
async function waits(promise) {
  return Promise.race([promise.then(() => false), pause(60).then(() => true)]);
}

/** Whether it comes true within some seconds. */
async function comes(condition) {
  for (let i = 0; i < 1000; ++i) {
    if (await condition()) return true;
    await pause(10);
  }
  return false;
}

function withIoredis() {
  const Redis = require('ioredis');
  const client = new Redis(port, '127.0.0.1');
  closing.push(() => client.disconnect());
  return client;
}

async function withNodeRedis(options = {}) {
  const client = require('redis').createClient({ url: `redis://127.0.0.1:${port}`, ...options });
  client.on('error', () => {});
  await client.connect();
  closing.push(() => client.destroy());
  return client;
}

/** Time moves on, for everybody. */
async function step(seconds) {
  await withIoredis().call('DEBUG', 'STEP', String(seconds));
}

/** After a restart of the server: what is asked on a connection that is just being closed fails. */
async function connectedAgain(...clients) {
  for (const client of clients) {
    expect(await comes(() => client.ping().then(() => true, () => false)), 'a library connects again');
  }
}

const kCompareAndDelete = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";
const kCompareAndExtend = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) else return 0 end";

/** The lock of the handbook, with what a library has of it: set, release, extend and get. */
async function byHand(client, { set, release, extend, get, waitForRelease }) {
  expect((await set('a')) === 'OK', 'A locks');
  expect((await set('b')) === null, 'B does not');
  const waiting = waitForRelease();
  expect(await waits(waiting), 'B waits');
  expect((await release('a')) === 1, 'A releases');
  await waiting;
  expect((await set('b')) === 'OK', 'B locks');
  await step(29);
  expect((await extend('b', 30000)) === 1, 'B extends');
  await step(29);
  expect((await get()) === 'b', 'B still has it');
  await step(2);
  expect((await extend('b', 30000)) === 0, 'B hears that the lease has run out');
  expect((await set('a')) === 'OK' && (await extend('a', 1e8)) === 1, 'A locks for long');
  await step(2000);
  await connectedAgain(client);
  expect((await release('a')) === 0, 'A hears that the server has forgotten');
}

const libraries = {
  async ioredis() {
    const [redis, other, subscriber] = [withIoredis(), withIoredis(), withIoredis()];
    redis.defineCommand('release', { numberOfKeys: 1, lua: kCompareAndDelete });
    redis.defineCommand('prolong', { numberOfKeys: 1, lua: kCompareAndExtend });
    await byHand(redis, {
      set: (who) => redis.set('lock', who, 'PX', 30000, 'NX'),
      release: async (who) => {
        const removed = await redis.release('lock', who);
        await redis.publish('released', who);
        return removed;
      },
      extend: (who, milliseconds) => redis.prolong('lock', who, milliseconds),
      get: () => redis.get('lock'),
      waitForRelease: async () => {
        const released = new Promise((resolve) => subscriber.on('message', resolve));
        await subscriber.subscribe('released');
        await released;
      },
    });
    const results = await redis.multi().hset('h', 'f', 1).hgetall('h').exec();
    expect(results[1][1].f === '1', 'a transaction');
    const pushed = other.blpop('list', 5);
    expect(await waits(pushed), 'BLPOP waits');
    await redis.rpush('list', 'x');
    expect((await pushed)[1] === 'x', 'BLPOP');
  },

  async redis() {
    const redis = await withNodeRedis();
    const subscriber = await withNodeRedis();
    const run = (script, who, ...more) => redis.eval(script, { keys: ['lock'], arguments: [who, ...more] });
    await byHand(redis, {
      set: (who) => redis.set('lock', who, { PX: 30000, NX: true }),
      release: async (who) => {
        const removed = await run(kCompareAndDelete, who);
        await redis.publish('released', who);
        return removed;
      },
      extend: (who, milliseconds) => run(kCompareAndExtend, who, String(milliseconds)),
      get: () => redis.get('lock'),
      waitForRelease: () => new Promise((resolve) => subscriber.subscribe('released', resolve)),
    });
    await redis.hSet('h', 'f', '1');
    expect((await redis.hGetAll('h')).f === '1', 'a hash');
    await redis.zAdd('z', { value: 'm', score: 1.5 });
    expect((await redis.zScore('z', 'm')) === 1.5 && (await redis.zScore('z', 'none')) === null, 'a score');
    const [pair] = await redis.zRangeWithScores('z', 0, -1);
    expect(pair.value === 'm' && pair.score === 1.5, 'members with scores');
    const results = await redis.multi().set('k', 'v').get('k').exec();
    expect(results[0] === 'OK' && results[1] === 'v', 'a transaction');
    const old = await withNodeRedis({ RESP: 2 });
    expect((await old.hGetAll('h')).f === '1', 'the same in RESP2');
  },

  async redlock() {
    const { default: Redlock } = require('redlock');
    const settings = { retryCount: 200, retryDelay: 20, retryJitter: 5 };
    const [a, b] = [new Redlock([withIoredis()], settings), new Redlock([withIoredis()], settings)];
    for (const each of [a, b]) each.on('error', () => {});
    const mine = await a.acquire(['lock'], 30000);
    const waiting = b.acquire(['lock'], 30000);
    expect(await waits(waiting), 'B waits');
    await mine.release();
    let theirs = await waiting;
    await step(29);
    theirs = await theirs.extend(30000);
    await step(31);
    expect(await fails(b.extend(theirs, 30000, { retryCount: 1 })), 'B hears that the lease has run out');
    const third = await a.acquire(['lock'], 1e8);
    await step(2000);
    expect(await fails(a.extend(third, 30000, { retryCount: 1 })), 'A hears that the server has forgotten');
    // Extended by itself, until that fails.
    const impatient = new Redlock([withIoredis()], { ...settings, retryCount: 1, automaticExtensionThreshold: 500 });
    impatient.on('error', () => {});
    let told = false;
    await fails(impatient.using(['lock'], 650, async (signal) => {
      await pause(200);
      expect(!signal.aborted, 'using() extends');
      await step(2);
      told = await comes(() => signal.aborted);
    }));
    expect(told, 'using() is told of the loss');
  },

  async 'redis-semaphore'() {
    const { Mutex, Semaphore } = require('redis-semaphore');
    const [redis, other] = [withIoredis(), withIoredis()];
    let losses = 0;
    const settings = { lockTimeout: 30000, refreshInterval: 40, retryInterval: 10, acquireTimeout: 10000, onLockLost: () => ++losses };
    const [a, b] = [new Mutex(redis, 'lock', settings), new Mutex(other, 'lock', settings)];
    await a.acquire();
    const waiting = b.acquire();
    expect(await waits(waiting), 'B waits');
    await a.release();
    await waiting;
    // Its refreshing extends the lease: two steps are longer than it.
    for (let i = 0; i < 3; ++i) {
      await step(29);
      expect(await comes(async () => (await redis.pttl('mutex:lock')) > 29000), 'B extends');
    }
    expect(b.isAcquired && losses === 0, 'B has lost nothing');
    await step(31);
    expect(await comes(() => losses === 1), 'B hears that the lease has run out');
    expect(!b.isAcquired, 'B has it no longer');
    await a.acquire();
    await step(2000);
    expect(await comes(() => losses === 2), 'A hears that the server has forgotten');
    expect(!a.isAcquired, 'A has it no longer');
    const places = [1, 2, 3].map(() => new Semaphore(redis, 'places', 2, { ...settings, acquireAttemptsLimit: 1 }));
    const taken = [];
    for (const place of places) taken.push(await place.tryAcquire());
    expect(taken.join() === 'true,true,false', 'a semaphore of two');
    for (const place of places) await place.release();
  },

  async 'simple-redis-mutex'() {
    const { lock, tryLock } = require('simple-redis-mutex');
    const [a, b] = [await withNodeRedis(), await withNodeRedis()];
    const release = await lock(a, 'lock', { timeout: 30000 });
    expect((await tryLock(b, 'lock'))[0] === false, 'B does not');
    const waiting = lock(b, 'lock', { timeout: 30000, pollingInterval: 20 });
    expect(await waits(waiting), 'B waits');
    await release();
    const theirs = await waiting;
    expect(theirs.fencingToken > release.fencingToken, 'fencing tokens grow');
    await step(29);
    await theirs.refreshTimeout();
    await step(29);
    expect((await tryLock(a, 'lock'))[0] === false, 'B has extended');
    await step(2);
    // It tells nobody; the next one gets the lock, and what B does cannot harm it.
    const [got, third] = await tryLock(a, 'lock', { timeout: 1e8 });
    await theirs();
    expect(got && (await tryLock(b, 'lock'))[0] === false, 'A has it after the lease, also after B releases');
    await step(2000);
    await connectedAgain(a, b);
    expect((await tryLock(b, 'lock'))[0] === true, 'the server has forgotten');
    await third();
  },
};

function versionOf(name) {
  const fs = require('fs');
  const path = require('path');
  for (let at = path.dirname(require.resolve(name)); ; at = path.dirname(at)) {
    const file = path.join(at, 'package.json');
    if (!fs.existsSync(file)) continue;
    const described = JSON.parse(fs.readFileSync(file));
    if (described.name === name) return described.version;
  }
}

libraries[library]()
  .then(() => console.log(library, versionOf(library), 'agrees'))
  .catch((error) => {
    console.log(library, 'differs:', error);
    process.exitCode = 1;
  })
  .finally(() => {
    closing.forEach((close) => close());
    process.exit();
  });

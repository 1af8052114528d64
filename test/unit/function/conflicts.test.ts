// Settings that hold each by itself and not together: the function does not start, and says why.
import { expect, test } from 'vitest';
import { natsCluster } from '../../../functions/nats-cluster/index.ts';
import { storageAudit } from '../../../functions/storage-audit/index.ts';
import { storageMigration } from '../../../functions/storage-migration/index.ts';
import type { ConfigError } from '../../../shared/function/config.ts';
import type { FunctionDefinition } from '../../../shared/function/define.ts';
import { startFunction } from '../../../shared/function/start.ts';

/** The conflict that keeps it from starting; it is stopped when there is none. */
async function problemsOf<Config extends object, Deps>(
  definition: FunctionDefinition<Config, Deps>,
  more: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const quick = { LISTEN_HOST: '127.0.0.1', PORT: '0', DRAIN_MINIMUM_SECONDS: '0' };
  const environment = { ...quick, LOG_LEVEL: 'silent', ...more };
  try {
    const build = { version: '0', commit: '' };
    await (await startFunction(definition, { environment, build })).stop();
    return [];
  } catch (error) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- anything else has no problems
    return (error as ConfigError).problems;
  }
}

test.each([
  ['CERT', 'KEY'],
  ['KEY', 'CERT'],
])('a function that reads etcd refuses a client %s without its %s', async (one, other) => {
  const half = { ETCD_ENDPOINTS: 'https://10.0.0.1:2379', [`ETCD_${one}_FILE`]: '/etcd/tls' };
  const problem = expect.stringContaining(
    `ETCD_${one}_FILE is set without ETCD_${other}_FILE, so that etcd would be shown no cert`,
  );
  expect(await problemsOf(storageAudit, half)).toEqual([problem]);
  expect(await problemsOf(storageMigration, half)).toEqual([problem]);
  const whole = { ...half, [`ETCD_${other}_FILE`]: '/etcd/tls' };
  expect(await problemsOf(storageAudit, whole)).toEqual([]);
});

const times = (SETTLE: string, WORK: string, REQUEST_DEADLINE: string) =>
  problemsOf(storageMigration, {
    SETTLE_SECONDS: SETTLE,
    WORK_SECONDS: WORK,
    REQUEST_DEADLINE_SECONDS: REQUEST_DEADLINE,
  });

test.each(['1', '0.5'])(
  'a migration refuses to wait 1 s in requests that work for %s s',
  async (s) => {
    expect(await times('1', s, '30')).toEqual([
      expect.stringMatching(
        `SETTLE_SECONDS is 1 and WORK_SECONDS ${s}, so that .* higher than SETTLE_SECONDS$`,
      ),
    ]);
  },
);

test('a migration refuses a deadline in which no request ends by itself', async () => {
  expect(await times('3', '20', '23')).toEqual([
    expect.stringContaining(
      'SETTLE_SECONDS is 3, WORK_SECONDS 20 and REQUEST_DEADLINE_SECONDS 23, so that requests ' +
        'would be given up in the middle of their work',
    ),
  ]);
  expect(await times('3', '20', '23.1')).toEqual([]);
});

test('nats-cluster refuses a deadline in which no request ends by itself', async () => {
  const startWith = (REQUEST_DEADLINE_SECONDS: string) =>
    problemsOf(natsCluster, { WORK_SECONDS: '20', REQUEST_DEADLINE_SECONDS });
  expect(await startWith('20')).toEqual([
    'WORK_SECONDS is 20 and REQUEST_DEADLINE_SECONDS 20, so that requests would be given up in ' +
      'the middle of their work: set REQUEST_DEADLINE_SECONDS higher, by the time of an ' +
      'observation while servers are silent',
  ]);
  expect(await startWith('20.1')).toEqual([]);
});

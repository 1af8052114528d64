// Trust in events: none is published unconfirmed, unless senders show tokens or somebody says so.
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { metadata } from '../../../functions/metadata/index.ts';
import { startFunction } from '../../../shared/function/start.ts';

const TOKENS = { SENDER_AUDIENCE: 'ballast-system/metadata', SENDER_SUBJECTS: 'system:x' };
const DANGER = /^CONFIRM_EVENTS is false and no tokens are asked for/;

interface Started {
  readonly confirmsEvents: boolean | undefined;
  readonly warnings: readonly string[];
}

async function started(more: Readonly<Record<string, string>>): Promise<Started> {
  const warnings: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => warnings.push(messageIn(line)) });
  let confirmsEvents: boolean | undefined;
  const watched: typeof metadata = {
    ...metadata,
    open: async (config, scope) => {
      const deps = await metadata.open(config, scope);
      ({ confirmsEvents } = deps);
      return deps;
    },
  };
  const environment = {
    LISTEN_HOST: '127.0.0.1',
    PORT: '0',
    DRAIN_MINIMUM_SECONDS: '0',
    NATS_URL: 'nats://127.0.0.1:1',
    ...more,
  };
  const one = await startFunction(watched, {
    environment,
    build: { version: '0', commit: '' },
    log,
  });
  await one.stop();
  return { confirmsEvents, warnings };
}

const messageIn = (line: string): string => (JSON.parse(line) as { readonly msg: string }).msg;

test.each([
  ['the manifests as they ship', { CONFIRM_EVENTS: '', SENDER_ADDRESSES: 'private' }, true],
  ['nothing set, as npm start', {}, true],
  ['knative/oidc', { CONFIRM_EVENTS: '', ...TOKENS }, false],
  ['tokens of others, too', { CONFIRM_EVENTS: 'true', ...TOKENS }, true],
])('events are asked about, or not, without a warning: %s', async (_what, more, expected) => {
  expect(await started(more)).toEqual({ confirmsEvents: expected, warnings: [] });
});

test('who trusts his whole network is told so by the log', async () => {
  const said = await started({ CONFIRM_EVENTS: 'false', SENDER_ADDRESSES: 'private' });
  expect(said).toEqual({ confirmsEvents: false, warnings: [expect.stringMatching(DANGER)] });
});

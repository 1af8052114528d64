// Where conversion should be, somebody else answers, wrongly or not at all: what is stored is read
// and written, whoever asks for the rest is told why, and nobody has to do anything afterwards.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { answerReview, type ReviewAnswer } from '../../../functions/conversion/review.ts';
import { secretOf } from '../../../functions/conversion/keeper.ts';
import { STORAGE_MIGRATIONS } from '../../../shared/api/storage-migration.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { SECRETS } from '../../../shared/stateful/parts.ts';
import { type Identity, issue, makeAuthority, type Validity } from '../../../shared/x509.ts';
import { until } from '../../builders/versioned-kind.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { beta, ConversionRig, NAMESPACE } from './rig.ts';

const START_MS = 120_000;
const HOUR_MS = 3_600_000;
const SLOW_MS = 400;
const HOST = 'conversion.ballast-system.svc';
const name = { name: 'kept' };
const path = `/apis/ballast.dev/v1beta1/storagemigrations/${name.name}`;
let rig: ConversionRig;
let impostor: Server | undefined;
/** Its connections, also without a word of TLS yet, for which Node waits two minutes. */
const sockets = new Set<Socket>();

beforeAll(async () => {
  rig = await ConversionRig.start(sharedPlane());
  const apiVersion = 'ballast.dev/v1alpha1';
  const resource = { group: 'example.com', resource: 'widgets' };
  const spec = { resource, pause: false };
  const manifest = { apiVersion, kind: 'StorageMigration', metadata: name, spec };
  await rig.kube.create(STORAGE_MIGRATIONS, manifest, {});
}, START_MS);

afterEach(async () => {
  await leave();
});

afterAll(async () => {
  await rig?.stop();
});

async function leave(): Promise<void> {
  if (impostor === undefined) return;
  const closed = once(impostor, 'close');
  impostor.close();
  for (const socket of sockets) socket.destroy();
  await closed;
  sockets.clear();
  impostor = undefined;
}

/** The authority that the definitions name. */
async function believed(): Promise<Identity> {
  const served = { namespace: NAMESPACE, service: 'conversion' };
  const secret = await rig.kube.get(SECRETS, secretOf(served));
  const data = secret?.['data'] as Readonly<Record<string, string>>;
  const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
  return { certPem: text('ca.crt'), keyPem: text('ca.key') };
}

const lasting = (fromMs: number, toMs: number): Validity => {
  const nowMs = systemClock.nowMs();
  return { fromMs: nowMs + fromMs, toMs: nowMs + toMs };
};
type Times = readonly [fromMs: number, toMs: number];
const NOW: Times = [-HOUR_MS, HOUR_MS];
const OVER: Times = [-2 * HOUR_MS, -HOUR_MS];
const another = (): Identity => makeAuthority('another', lasting(...NOW));

/** The answer to a review; nothing, when it hangs. */
type Answer = (review: unknown) => Promise<ReviewAnswer | undefined>;
const rightly: Answer = async (review) => answerReview(review);
const never: Answer = async () => undefined;
const slowly: Answer = async (review) => {
  await systemClock.sleep(SLOW_MS);
  return answerReview(review);
};
const lyingAbout =
  (lie: (object: KubeObject) => object): Answer =>
  async (review) => {
    const { response, ...rest } = answerReview(review);
    const convertedObjects = response.convertedObjects.map((one) => lie(one as KubeObject));
    return { ...rest, response: { ...response, convertedObjects } };
  };
const renamed = lyingAbout((one) => ({ ...one, metadata: { ...one.metadata, name: 'other' } }));
const unconverted = lyingAbout((one) => ({ ...one, apiVersion: 'ballast.dev/v1alpha1' }));

async function standIn(answer: Answer, authority?: Identity, validity = NOW): Promise<void> {
  const signer = authority ?? (await believed());
  const own = issue(signer, { commonName: HOST, hosts: [HOST] }, lasting(...validity));
  await rig.goAway();
  impostor = createServer({ cert: own.certPem, key: own.keyPem }, (request, response) => {
    void respond(answer, request, response);
  });
  impostor.on('connection', (socket: Socket) => sockets.add(socket));
  impostor.listen(rig.tlsPort, 'localhost');
  await once(impostor, 'listening');
}

async function respond(
  answer: Answer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const said = await answer(await json(request));
  if (said === undefined) return;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(said));
}

const readBeta = (): Promise<unknown> =>
  rig.kube.raw({ method: 'GET', path, query: { timeout: '2s' }, repeat: 'unsent' });

let isPaused = false;

async function expectStoredIsServed(): Promise<void> {
  isPaused = !isPaused;
  const patch = { type: 'merge', body: { spec: { pause: isPaused } } } as const;
  await rig.kube.patch(STORAGE_MIGRATIONS, name, patch, {});
  expect(await rig.kube.get(STORAGE_MIGRATIONS, name)).toMatchObject({
    spec: { pause: isPaused },
  });
}

/** It only starts again. */
async function expectComesBack(): Promise<void> {
  await leave();
  await rig.comeBack();
  await until('it to be read in v1beta1 again', async () => {
    const again = await rig.kube.get(beta('storagemigrations'), name).catch(() => null);
    return again !== null && (again['spec'] as { paused: boolean }).paused === isPaused;
  });
}

const WEBHOOK = 'conversion webhook for ballast.dev/v1alpha1, Kind=StorageMigration';

test.each<[string, string, () => Promise<void>]>([
  ['it is dead', `${WEBHOOK} failed: Post .*connection refused`, () => rig.goAway()],
  // A caller that waits for less than the API server does is told no more.
  ['it hangs', 'request did not complete within', () => standIn(never)],
  [
    'its certificate is over',
    `${WEBHOOK} failed: Post .*certificate has expired`,
    () => standIn(rightly, undefined, OVER),
  ],
  [
    'its certificate is of another authority',
    `${WEBHOOK} failed: Post .*certificate signed by unknown authority`,
    () => standIn(rightly, another()),
  ],
  [
    'it renames the object',
    `${WEBHOOK} returned invalid object: must have the same name`,
    () => standIn(renamed),
  ],
  [
    'it converts nothing',
    `${WEBHOOK} returned invalid object .*expected ballast.dev/v1beta1`,
    () => standIn(unconverted),
  ],
])('%s: what is stored is served, the rest is told so, and it comes back', async (...row) => {
  const [, words, begin] = row;
  await begin();
  await expectStoredIsServed();
  const told = await readBeta().then(
    () => 'nothing',
    (error: unknown) => String(error),
  );
  expect(told).toMatch(new RegExp(words));
  await expectComesBack();
});

test('it is slow: that is waited for', async () => {
  await standIn(slowly);
  const beganMs = systemClock.nowMs();
  await readBeta();
  expect(systemClock.nowMs() - beganMs).toBeGreaterThanOrEqual(SLOW_MS - 1);
  await expectStoredIsServed();
  await expectComesBack();
});

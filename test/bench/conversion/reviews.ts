// Reviews as the API server sends them, of StorageMigrations with a whole status, some 2 KB each.
import { Agent, request } from 'node:http';
import { inParallel } from '../../../knative/try/local/cluster/in-parallel.ts';

const CONNECTIONS = 8;
const AT = '2026-01-02T03:04:05Z';

const condition = (type: string) => ({
  type,
  status: 'True',
  reason: 'AllProved',
  message: 'All objects are stored in the current version, and each was written once more.',
  lastTransitionTime: AT,
  observedGeneration: 1,
});

const migration = (name: string) => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'StorageMigration',
  metadata: { name, uid: `uid-of-${name}`, resourceVersion: '1234567', generation: 1 },
  spec: {
    resource: { group: 'bench.example.com', resource: 'widgets' },
    mode: 'Ballast',
    budget: { concurrency: 16 },
    trim: 'OnProof',
    pause: true,
    dryRun: false,
    retries: 3,
    verify: ['SecondPass'],
    cleanManagedFields: true,
  },
  status: {
    observedGeneration: 1,
    phase: 'Done',
    target: { version: 'v1', kind: 'Widget', dryRun: false, crdUid: 'a-b-c', crdGeneration: 2 },
    storedVersions: ['v1alpha1', 'v1'],
    settledAt: AT,
    writesEndAt: AT,
    pass: 2,
    passStartedAt: AT,
    progress: { total: 9, done: 9, changed: 0, current: 9, conflicts: 0, gone: 0, failed: 0 },
    rewritten: 9,
    proof: { oracle: 'SecondPass', version: 'v1', objects: 9, resourceVersion: '99', at: AT },
    trimmed: ['v1alpha1'],
    conditions: ['Proved', 'Progressing', 'Blocked'].map(condition),
  },
});

export function reviewOf(objects: number): string {
  return JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    request: {
      uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
      desiredAPIVersion: 'ballast.dev/v1beta1',
      objects: Array.from({ length: objects }, (_, index) => migration(`m-${index}`)),
    },
  });
}

/** Each is answered with success, or this fails. */
export async function sendReviews(port: number, body: string, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  try {
    const all = Array.from({ length: count }, (_, index) => index);
    await inParallel(all, CONNECTIONS, () => send(port, body, agent));
  } finally {
    agent.destroy();
  }
}

function send(port: number, body: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const options = { port, path: '/convert', method: 'POST', headers, agent };
    const sent = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => {
        if (text.includes('"status":"Success"')) resolve();
        else reject(new Error(`A review was answered with ${text.slice(0, 200)}.`));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

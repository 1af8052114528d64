// The steps of the timeline on a real API server, as they are shipped, with conversion running
// under its own account. There are no pods here: the Service is another name of this machine, and
// the definitions name the port that the function listens on.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { conversion } from '../../../functions/conversion/index.ts';
import { etcdCluster } from '../../../functions/etcd-cluster/index.ts';
import { etcdPeer } from '../../../functions/etcd-peer/index.ts';
import { natsCluster } from '../../../functions/nats-cluster/index.ts';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import type { Step } from '../../../knative/try/local/timeline/step-names.ts';
import { showsCertificate } from '../../../knative/try/local/timeline/shows-certificate.ts';
import { ledTo, renderStep, webhookOf } from '../../../knative/try/local/timeline/steps.ts';
import { conversionPort, ownDefinitions } from '../../../knative/try/local/timeline/take-step.ts';
import type { FunctionDefinition } from '../../../shared/function/define.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import type { KubeObject, Manifest, ResourceRef } from '../../../shared/kube/objects.ts';
import { until } from '../../builders/versioned-kind.ts';

const REPO = fileURLToPath(new URL('../../..', import.meta.url));
const ACCOUNTS = { group: '', version: 'v1', resource: 'serviceaccounts' } as const;
export const NAMESPACE = 'ballast-system';

export const beta = (resource: string): ResourceRef => ({
  group: 'ballast.dev',
  version: 'v1beta1',
  resource,
});

export const alpha = (resource: string): ResourceRef => ({
  ...beta(resource),
  version: 'v1alpha1',
});

export class ConversionRig {
  readonly plane: PlaneAddress;
  readonly kube: KubeClient;
  readonly tlsPort: number;
  readonly #dir: string;
  #running: RunningFunction | undefined;

  private constructor(plane: PlaneAddress, kube: KubeClient, tlsPort: number, dir: string) {
    this.plane = plane;
    this.kube = kube;
    this.tlsPort = tlsPort;
    this.#dir = dir;
  }

  /** On the plane of the lane, which has the first step from its start. */
  static async start(plane: PlaneAddress): Promise<ConversionRig> {
    const rig = await ConversionRig.#open(plane, conversionPort);
    try {
      await rig.comeBack();
      await rig.whenConverting();
      // The file before may have left definitions without one of them.
      await rig.whenServed();
      return rig;
    } catch (error) {
      await rig.stop();
      throw error;
    }
  }

  /** The first step, and the authority of the function in every definition. */
  static async install(plane: PlaneAddress): Promise<void> {
    const rig = await ConversionRig.prepare(plane);
    try {
      await rig.comeBack();
      await rig.whenConverting();
    } finally {
      await rig.stop();
    }
  }

  /** The first step, without the function. */
  static async prepare(plane: PlaneAddress): Promise<ConversionRig> {
    const rig = await ConversionRig.#open(plane, freePort);
    try {
      await rig.applyStep('1-served');
      return rig;
    } catch (error) {
      await rig.stop();
      throw error;
    }
  }

  static async #open(
    plane: PlaneAddress,
    choosePort: (kube: KubeClient) => Promise<number>,
  ): Promise<ConversionRig> {
    const { kubeconfigPath } = plane;
    const kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
    const tlsPort = await choosePort(kube);
    const dir = await mkdtemp(join(tmpdir(), 'ballast-conversion-'));
    return new ConversionRig(plane, kube, tlsPort, dir);
  }

  async stop(): Promise<void> {
    await this.goAway();
    await this.kube.close();
    await rm(this.#dir, { recursive: true });
  }

  async goAway(): Promise<void> {
    await this.#running?.stop();
    this.#running = undefined;
  }

  async comeBack(): Promise<void> {
    const environment = await this.environment();
    const build = { version: '0', commit: '' };
    const log = pino({ level: 'silent' });
    this.#running = await startFunction(conversion, { environment, build, log });
    const shows = () => showsCertificate(this.tlsPort, AbortSignal.timeout(1_000));
    await until('conversion to show a certificate', () => shows().catch(() => false));
  }

  /** With which it runs here, on any free port beside that for TLS. */
  async environment(): Promise<Readonly<Record<string, string>>> {
    return {
      PORT: '0',
      LISTEN_HOST: '127.0.0.1',
      DRAIN_MINIMUM_SECONDS: '0',
      TLS_PORT: String(this.tlsPort),
      KUBECONFIG: await this.kubeconfigOf('conversion'),
    };
  }

  /** The API server believes it, for every kind. */
  async whenConverting(): Promise<void> {
    await until('objects to be converted', async () => {
      const names = await this.definitions();
      const bundles = names.map((one) => webhookOf(one)['caBundle']);
      return bundles.length > 0 && bundles.every((bundle) => typeof bundle === 'string');
    });
  }

  definitions(): Promise<readonly KubeObject[]> {
    return ownDefinitions(this.kube);
  }

  /** As kubectl renders the step; once on a plane, whose files take the same ones. */
  async rendered(step: Step = '1-served'): Promise<readonly Manifest[]> {
    const path = join(this.plane.dir, `timeline-${step}.json`);
    if (!existsSync(path)) await writeFile(path, JSON.stringify(await renderStep(step)));
    return JSON.parse(await readFile(path, 'utf8')) as readonly Manifest[];
  }

  /** Definitions may be named where the others make no difference: each is dear to change. */
  async applyStep(step: Step, plurals: readonly string[] = []): Promise<void> {
    const isLeftOut = ({ kind, metadata: { name } }: Manifest): boolean =>
      kind === 'CustomResourceDefinition' &&
      plurals.length > 0 &&
      !plurals.some((plural) => name === `${plural}.ballast.dev`);
    const objects = (await this.rendered(step)).filter((object) => !isLeftOut(object));
    await applyObjects(
      this.kube,
      objects.map((object) => ({ file: step, object: ledTo(this.tlsPort, object) })),
    );
  }

  async whenServed(): Promise<void> {
    const plurals = (await this.definitions()).map(({ metadata }) => metadata.name.split('.')[0]);
    await until('every kind to be served in both versions', async () => {
      const asked = plurals.flatMap((one = '') => [
        this.#isServed(alpha(one)),
        this.#isServed(beta(one)),
      ]);
      return (await Promise.all(asked)).every(Boolean);
    });
  }

  async whenAway(resource: string): Promise<void> {
    await until(`${resource} to be away`, async () => !(await this.#isServed(alpha(resource))));
  }

  /** By its path: a client finds the other version by itself. */
  #isServed({ group, version, resource }: ResourceRef): Promise<boolean> {
    const path = `/apis/${group}/${version}/${resource}`;
    return this.kube.raw({ method: 'GET', path, repeat: 'always' }).then(
      () => true,
      () => false,
    );
  }

  /** The block of docs/upgrading.md that begins so, with other words in the place of some. */
  async runAsWritten(first: string, changes: object = {}): Promise<string> {
    const page = await readFile(join(REPO, 'docs/upgrading.md'), 'utf8');
    const block = page.split('```sh\n').find((one) => one.startsWith(first)) ?? '';
    const [commands = ''] = block.split('```');
    const changed = Object.entries(changes).reduce(
      (text, [from, to]) => text.replaceAll(from, String(to)),
      commands,
    );
    const PATH = `${dirname(await resolvePart('kubectl'))}:${process.env['PATH']}`;
    const { dir, kubeconfigPath: KUBECONFIG } = this.plane;
    const env = { PATH, KUBECONFIG, KUBECACHEDIR: join(dir, 'kubectl'), GOGC: '400' };
    // A search that finds nothing ends with 1.
    const script = `${changed.trim()} || true`;
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', script], { env });
    if (stderr !== '') throw new Error(stderr);
    return stdout;
  }

  /** The functions that make parts of what they keep. */
  startKeepers(server?: string): Promise<readonly RunningFunction[]> {
    return Promise.all([
      this.startFunction(natsCluster, server),
      this.startFunction(etcdCluster, server),
      this.startFunction(etcdPeer, server),
    ]);
  }

  /** A function under its own account; by way of a `server` before the API server. */
  async startFunction<Config extends object, Deps>(
    definition: FunctionDefinition<Config, Deps>,
    server?: string,
  ): Promise<RunningFunction> {
    const environment = {
      PORT: '0',
      LOG_LEVEL: 'silent',
      DRAIN_MINIMUM_SECONDS: '0',
      WORK_SECONDS: '1',
      ETCD_BACKUP_IMAGE: 'dev.local/ballast/etcd-backup:0.1.0',
      KUBECONFIG: await this.kubeconfigOf(definition.name, server),
    };
    return startFunction(definition, { environment, build: { version: '0.0.0', commit: '' } });
  }

  /** With which a function is no more than its own account; by way of a `server` before it. */
  async kubeconfigOf(
    account: string,
    server: string = this.plane.part('kube-apiserver').url,
  ): Promise<string> {
    const target = { namespace: NAMESPACE, name: account, subresource: 'token' };
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const { status } = await this.kube.createSubresource(ACCOUNTS, target, body);
    const { token } = status as { readonly token: string };
    const path = join(this.#dir, `${account}-${new URL(server).port}`);
    const cluster = { server, 'certificate-authority': this.plane.caPath };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'own',
      clusters: [{ name: 'own', cluster }],
      users: [{ name: 'own', user: { token } }],
      contexts: [{ name: 'own', context: { cluster: 'own', user: 'own' } }],
    };
    await writeFile(path, JSON.stringify(config));
    return path;
  }
}

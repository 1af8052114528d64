// A control plane with the shipped manifests applied, on which functions run as themselves: each
// with the token of its own service account, and with the environment that its manifest gives it.
import { readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { ServiceAccounts } from '../../../knative/try/local/cluster/service-accounts.ts';
import { loadWiring } from '../../../knative/try/local/manifests/load.ts';
import type { Wiring } from '../../../knative/try/local/manifests/wiring.ts';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import type { FunctionDefinition } from '../../../shared/function/define.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';

const MANIFESTS = fileURLToPath(new URL('../../../knative', import.meta.url));

const CREATED = 201;

/** One request, as RBAC sees it. */
export interface AuditedRequest {
  readonly account: string;
  readonly verb: string;
  readonly group: string;
  /** With its sub-resource; a path for what is no resource. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly isAllowed: boolean;
  readonly receivedMs: number;
}

export class Installed {
  readonly plane: PlaneAddress;
  readonly kube: KubeClient;
  readonly wiring: Wiring;
  readonly accounts: ServiceAccounts;
  readonly #functions: RunningFunction[] = [];
  readonly #auditLog: string;
  /** Objects of the files before it are not its own. */
  readonly #auditedBytes: number;

  private constructor(wiring: Wiring, auditLog: string, auditedBytes: number) {
    this.plane = sharedPlane();
    this.wiring = wiring;
    this.#auditLog = auditLog;
    this.#auditedBytes = auditedBytes;
    const { plane } = this;
    const { kubeconfigPath } = plane;
    this.kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
    const urlFor = async (_: string, server: string): Promise<string> => plane.part(server).url;
    this.accounts = new ServiceAccounts(this.kube, { ...plane, urlFor }, (error) => {
      throw error;
    });
  }

  static async open(): Promise<Installed> {
    const auditLog = inject('auditLog');
    if (auditLog === undefined) throw new Error('the API server of this lane keeps no audit log');
    const { size } = await stat(auditLog);
    return new Installed(await loadWiring(MANIFESTS), auditLog, size);
  }

  /** In this process, as its own account. */
  async run<Config extends object, Deps>(
    definition: FunctionDefinition<Config, Deps>,
    more: Readonly<Record<string, string>> = {},
    clock: Clock = systemClock,
  ): Promise<RunningFunction> {
    const { name } = definition;
    const wiring = this.wiring.functions.find((one) => one.name === name);
    if (wiring === undefined) throw new Error(`no manifest is about ${name}`);
    const account = { namespace: wiring.namespace, name: wiring.serviceAccountName };
    const environment = {
      ...wiring.env,
      PORT: '0',
      LOG_LEVEL: 'silent',
      DRAIN_MINIMUM_SECONDS: '0',
      KUBECONFIG: await this.accounts.kubeconfigFor(
        `function/${name}-${this.#functions.length}`,
        account,
      ),
      ...more,
    };
    const build = { version: '0.0.0', commit: '' };
    const running = await startFunction(definition, { environment, build, clock });
    this.#functions.push(running);
    return running;
  }

  /** The requests until now, oldest first. */
  async requests(): Promise<readonly AuditedRequest[]> {
    return requestsIn((await readFile(this.#auditLog)).subarray(this.#auditedBytes));
  }

  async stop(): Promise<void> {
    this.accounts.close();
    await Promise.all(this.#functions.map((one) => one.stop()));
    await this.kube.close();
  }
}

/** All that a whole audit log has. */
export function requestsIn(log: Buffer): readonly AuditedRequest[] {
  const lines = log
    .toString()
    .split('\n')
    .filter((line) => line !== '');
  return lines.flatMap((line) => askedIn(JSON.parse(line) as AuditEvent));
}

interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly requestReceivedTimestamp: string;
  readonly user: { readonly username: string };
  readonly objectRef?: Readonly<Partial<Record<string, string>>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly responseStatus?: { readonly code?: number };
}

/** An apply of what is not there yet takes two rights. */
const verbsOf = ({ verb, responseStatus }: AuditEvent): readonly string[] =>
  verb === 'patch' && responseStatus?.code === CREATED ? [verb, 'create'] : [verb];

function askedIn(event: AuditEvent): readonly AuditedRequest[] {
  const { requestURI, requestReceivedTimestamp, user, objectRef = {}, annotations } = event;
  const { apiGroup = '', resource, subresource, namespace = '', name = '' } = objectRef;
  const path = requestURI.split('?')[0] ?? '';
  const requests = {
    account: user.username.split(':').at(-1) ?? '',
    group: apiGroup,
    resource: resource === undefined ? path : [resource, subresource].filter(Boolean).join('/'),
    namespace,
    name,
    isAllowed: annotations?.['authorization.k8s.io/decision'] === 'allow',
    receivedMs: Date.parse(requestReceivedTimestamp),
  };
  return verbsOf(event).map((verb) => ({ ...requests, verb }));
}

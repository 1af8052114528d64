// A control plane with the shipped manifests applied, on which functions run as themselves: each
// with the token of its own service account, and with the environment that its manifest gives it.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { applyObjects } from '../../../knative/local/cluster/apply-objects.ts';
import { ServiceAccounts } from '../../../knative/local/cluster/service-accounts.ts';
import { loadWiring } from '../../../knative/local/manifests/load.ts';
import type { Wiring } from '../../../knative/local/manifests/wiring.ts';
import { type CorePart, type Plane, startPlane } from '../../../knative/local/plane/plane.ts';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import type { FunctionDefinition } from '../../../shared/function/define.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';

const MANIFESTS = fileURLToPath(new URL('../../../knative', import.meta.url));

/** Whatever the accounts of our namespace ask, with nothing of what they send. */
const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    { level: 'Metadata', userGroups: ['system:serviceaccounts:ballast-system'] },
    { level: 'None' },
  ],
};

const CREATED = 201;

/** One request, as RBAC sees it. */
export interface Asked {
  readonly account: string;
  readonly verb: string;
  readonly group: string;
  /** With its sub-resource; a path for what is no resource. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly isAllowed: boolean;
}

export class Installed {
  readonly plane: Plane;
  readonly kube: KubeClient;
  readonly wiring: Wiring;
  readonly accounts: ServiceAccounts;
  readonly #functions: RunningFunction[] = [];
  readonly #auditLog: string;

  private constructor(plane: Plane, wiring: Wiring, auditLog: string) {
    this.plane = plane;
    this.wiring = wiring;
    this.#auditLog = auditLog;
    const { kubeconfigPath } = plane;
    this.kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
    this.accounts = new ServiceAccounts(this.kube, plane, (error) => {
      throw error;
    });
  }

  static async start(parts: readonly CorePart[]): Promise<Installed> {
    const wiring = await loadWiring(MANIFESTS);
    const base = join(tmpdir(), `ballast-audit-${crypto.randomUUID()}`);
    await writeFile(`${base}.policy`, JSON.stringify(AUDIT_POLICY));
    const flags = [`--audit-policy-file=${base}.policy`, `--audit-log-path=${base}.log`];
    const plane = await startPlane({ parts, apiServerFlags: flags });
    const installed = new Installed(plane, wiring, `${base}.log`);
    await applyObjects(installed.kube, wiring.objects);
    return installed;
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

  /** What was asked until now, oldest first. */
  async asked(): Promise<readonly Asked[]> {
    const lines = (await readFile(this.#auditLog, 'utf8'))
      .split('\n')
      .filter((line) => line !== '');
    return lines.flatMap((line) => askedIn(JSON.parse(line) as AuditEvent));
  }

  async stop(): Promise<void> {
    this.accounts.close();
    await Promise.all(this.#functions.map((one) => one.stop()));
    await this.kube.close();
    await this.plane.stop();
    const policy = this.#auditLog.replace(/log$/, 'policy');
    await Promise.all([this.#auditLog, policy].map((path) => rm(path)));
  }
}

interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly objectRef?: Readonly<Partial<Record<string, string>>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly responseStatus?: { readonly code?: number };
}

/** An apply of what is not there yet takes two rights. */
const verbsOf = ({ verb, responseStatus }: AuditEvent): readonly string[] =>
  verb === 'patch' && responseStatus?.code === CREATED ? [verb, 'create'] : [verb];

function askedIn(event: AuditEvent): readonly Asked[] {
  const { requestURI, user, objectRef = {}, annotations } = event;
  const { apiGroup = '', resource, subresource, namespace = '', name = '' } = objectRef;
  const path = requestURI.split('?')[0] ?? '';
  const asked = {
    account: user.username.split(':').at(-1) ?? '',
    group: apiGroup,
    resource: resource === undefined ? path : [resource, subresource].filter(Boolean).join('/'),
    namespace,
    name,
    isAllowed: annotations?.['authorization.k8s.io/decision'] === 'allow',
  };
  return verbsOf(event).map((verb) => ({ ...asked, verb }));
}

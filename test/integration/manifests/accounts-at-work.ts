// The accounts of an installation in the wrong hands: plain requests with their tokens, which keep
// to no rule of our functions.
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';

const SERVICE_ACCOUNTS = { group: '', version: 'v1', resource: 'serviceaccounts' } as const;

export interface Attempt {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Outcome {
  readonly status: number;
  /** The message of a refusal; the whole text of any other answer. */
  readonly text: string;
}

export class StolenAccount {
  readonly name: string;
  readonly #url: string;
  readonly #ca: Buffer;
  readonly #token: string;

  private constructor(name: string, url: string, ca: Buffer, token: string) {
    this.name = name;
    this.#url = url;
    this.#ca = ca;
    this.#token = token;
  }

  static async of(plane: PlaneAddress, admin: KubeClient, name: string): Promise<StolenAccount> {
    const target = { namespace: 'ballast-system', name, subresource: 'token' };
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const { status } = await admin.createSubresource(SERVICE_ACCOUNTS, target, body);
    const { token } = status as { readonly token: string };
    const { url } = plane.part('kube-apiserver');
    return new StolenAccount(name, url, await readFile(plane.caPath), token);
  }

  async try({ method, path, body, headers = {} }: Attempt): Promise<Outcome> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const all = { authorization: `Bearer ${this.#token}`, 'content-type': type, ...headers };
    return new Promise((resolve, reject) => {
      const options = { method, headers: all, ca: this.#ca };
      const sent = request(`${this.#url}${path}`, options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, text: messageIn(text) });
        });
      });
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** The same, and what is let through changes nothing. */
  dryRun(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<Outcome> {
    return this.try({
      method,
      path: `${path}?dryRun=All`,
      ...(body === undefined ? {} : { body }),
    });
  }

  /** `get secrets`, `create natsclusters.ballast.dev`: what the API server lets it do there. */
  async rightsIn(namespace: string): Promise<ReadonlySet<string>> {
    const { text } = await this.try({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectRulesReview',
        spec: { namespace },
      },
    });
    const { status } = JSON.parse(text) as { readonly status: RulesReview };
    if (status.incomplete) throw new Error('the API server does not tell all that it allows');
    return new Set(status.resourceRules.flatMap(rightsOf).filter((one) => !isEverybodys(one)));
  }
}

interface RulesReview {
  readonly incomplete: boolean;
  readonly resourceRules: readonly ReviewedRule[];
}

interface ReviewedRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
}

const rightsOf = ({ verbs, apiGroups, resources, resourceNames = [''] }: ReviewedRule) =>
  verbs.flatMap((verb) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        resourceNames.map((name) => {
          const [plural = '', ...sub] = resource.split('/');
          const path = [[plural, group].filter(Boolean).join('.'), ...sub].join('/');
          return [verb, path, name].filter(Boolean).join(' ');
        }),
      ),
    ),
  );

/** Every known account may ask what it may do itself, and who it is. */
const isEverybodys = (right: string): boolean =>
  /^create selfsubject\w+[.](authorization|authentication)[.]k8s[.]io$/.test(right);

function messageIn(text: string): string {
  try {
    const { message, kind } = JSON.parse(text) as { message?: string; kind?: string };
    return kind === 'Status' ? (message ?? '') : text;
  } catch {
    return text;
  }
}

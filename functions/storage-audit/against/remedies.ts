// The commands that make an upgrade safe, ready to be run in their order.
import { type Crd, storageVersionOf } from './crd.ts';

/** Writes every object in the storage version, proves it, and trims status.storedVersions. */
export const migration = (name: string): readonly string[] => [
  `npm run -s migrate -- ${name} | kubectl apply -f -`,
  `kubectl wait --for=jsonpath='{.status.phase}'=Done storagemigration/${name} --timeout=1h`,
];

/** Makes another version of the existing CRD the storage version. */
export function flip({ name, versions, ...crd }: Crd, to: string): string {
  const from = storageVersionOf({ versions });
  const set = (version: string, value: boolean): readonly object[] => {
    const at = `/spec/versions/${versions.findIndex((one) => one.name === version)}`;
    return [
      { op: 'test', path: `${at}/name`, value: version },
      { op: 'replace', path: `${at}/storage`, value },
    ];
  };
  const patch = [...set(from, false), ...set(to, true)];
  return `kubectl patch crd ${name || crd.resource} --type=json -p '${JSON.stringify(patch)}'`;
}

export function lookAtWebhook(service: { namespace: string; name: string }): readonly string[] {
  const { namespace, name } = service;
  return [
    `kubectl -n ${namespace} get service ${name}`,
    `kubectl -n ${namespace} get endpointslices -l kubernetes.io/service-name=${name}`,
  ];
}

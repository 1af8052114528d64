// What Kubernetes' own resources are called in etcd. Their keys have no group, and some of them
// keep names that the API dropped years ago.
import type { GroupResource } from './place.ts';

const GROUPS: Readonly<Record<string, string>> = {
  '':
    'pods configmaps secrets namespaces serviceaccounts persistentvolumes services endpoints ' +
    'persistentvolumeclaims resourcequotas limitranges podtemplates events nodes ' +
    'replicationcontrollers',
  apps: 'deployments replicasets statefulsets daemonsets controllerrevisions',
  batch: 'jobs cronjobs',
  autoscaling: 'horizontalpodautoscalers',
  policy: 'poddisruptionbudgets',
  'networking.k8s.io': 'ingresses ingressclasses networkpolicies ipaddresses servicecidrs',
  'rbac.authorization.k8s.io': 'roles rolebindings clusterroles clusterrolebindings',
  'storage.k8s.io':
    'storageclasses volumeattachments csidrivers csinodes csistoragecapacities ' +
    'volumeattributesclasses',
  'scheduling.k8s.io': 'priorityclasses workloads podgroups',
  'node.k8s.io': 'runtimeclasses',
  'coordination.k8s.io': 'leases leasecandidates',
  'discovery.k8s.io': 'endpointslices',
  'certificates.k8s.io': 'certificatesigningrequests clustertrustbundles podcertificaterequests',
  'flowcontrol.apiserver.k8s.io': 'flowschemas prioritylevelconfigurations',
  'admissionregistration.k8s.io':
    'mutatingwebhookconfigurations validatingwebhookconfigurations ' +
    'validatingadmissionpolicies validatingadmissionpolicybindings ' +
    'mutatingadmissionpolicies mutatingadmissionpolicybindings',
  'resource.k8s.io': 'resourceclaims resourceclaimtemplates deviceclasses resourceslices',
  'internal.apiserver.k8s.io': 'storageversions',
  'storagemigration.k8s.io': 'storageversionmigrations',
};

/** The group of each resource whose keys do not name it. */
export const BUILT_IN_GROUPS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(GROUPS).flatMap(([group, names]) => names.split(' ').map((name) => [name, group])),
);

/** Where a resource is kept under another name than its own. */
export const STORED_UNDER: Readonly<Record<string, string>> = {
  '/services': 'services/specs',
  '/endpoints': 'services/endpoints',
  '/nodes': 'minions',
  '/replicationcontrollers': 'controllers',
  'networking.k8s.io/ingresses': 'ingress',
  'policy/podsecuritypolicies': 'podsecuritypolicy',
};

/** The same, from the name in the key. */
export const STORED_AS: Readonly<Record<string, GroupResource>> = Object.fromEntries(
  Object.entries(STORED_UNDER).map(([of, under]) => {
    const [group = '', resource = ''] = of.split('/');
    return [under, { group, resource }];
  }),
);

// Names of Kubernetes' own resources in etcd, and the version in which 1.36 stores them. Their keys
// have no group, and some keep names that the API dropped years ago.

export interface GroupResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
}

const GROUPS: Readonly<Record<string, string>> = {
  '':
    'pods configmaps secrets namespaces serviceaccounts persistentvolumes services endpoints ' +
    'persistentvolumeclaims resourcequotas limitranges podtemplates events nodes ' +
    // The last three are no resources: what API servers keep for themselves.
    'replicationcontrollers masterleases peerserverleases ranges',
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
  'resource.k8s.io':
    'resourceclaims resourceclaimtemplates deviceclasses resourceslices devicetaintrules ' +
    'resourcepoolstatusrequests',
  'internal.apiserver.k8s.io': 'storageversions',
  'storagemigration.k8s.io': 'storageversionmigrations',
};

/** The group of each resource whose keys do not name it. */
export const BUILT_IN_GROUPS: ReadonlyMap<string, string> = new Map(
  Object.entries(GROUPS).flatMap(([group, names]) =>
    names.split(' ').map((name): [string, string] => [name, group]),
  ),
);

/** Where a resource is kept under another name than its own. */
export const STORED_UNDER: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '/services': 'services/specs',
    '/endpoints': 'services/endpoints',
    '/nodes': 'minions',
    '/replicationcontrollers': 'controllers',
    'networking.k8s.io/ingresses': 'ingress',
    'policy/podsecuritypolicies': 'podsecuritypolicy',
  }),
);

/** The same, from the name in the key. */
export const STORED_AS: ReadonlyMap<string, GroupResource> = new Map(
  [...STORED_UNDER].map(([of, under]): [string, GroupResource] => {
    const [group = '', resource = ''] = of.split('/');
    return [under, { group, resource }];
  }),
);

/** The release of which this is so. */
export const KUBERNETES = '1.36';

/** Where it is not v1. A CustomResourceDefinition that is too large as v1beta1 is stored as v1. */
const VERSIONS: Readonly<Record<string, readonly string[]>> = {
  'apiextensions.k8s.io/customresourcedefinitions': ['v1beta1', 'v1'],
  'autoscaling/horizontalpodautoscalers': ['v2'],
  'coordination.k8s.io/leasecandidates': ['v1beta1'],
  'admissionregistration.k8s.io/mutatingadmissionpolicies': ['v1beta1'],
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings': ['v1beta1'],
  'certificates.k8s.io/clustertrustbundles': ['v1beta1'],
  'certificates.k8s.io/podcertificaterequests': ['v1beta1'],
  'storagemigration.k8s.io/storageversionmigrations': ['v1beta1'],
  'resource.k8s.io/devicetaintrules': ['v1alpha3'],
  'resource.k8s.io/resourcepoolstatusrequests': ['v1alpha3'],
  'scheduling.k8s.io/workloads': ['v1alpha2'],
  'scheduling.k8s.io/podgroups': ['v1alpha2'],
  'internal.apiserver.k8s.io/storageversions': ['v1alpha1'],
};

/** As in apiVersion. */
export function versionsWritten({ group, resource }: GroupResource): readonly string[] {
  const versions = VERSIONS[`${group}/${resource}`] ?? ['v1'];
  return versions.map((version) => (group === '' ? version : `${group}/${version}`));
}

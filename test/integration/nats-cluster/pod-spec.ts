// The fields of a pod's spec that the kubelet of the tests goes by.

export interface PodSpec {
  readonly nodeName?: string;
  readonly subdomain: string;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: { readonly runAsUser: number };
  readonly volumes: readonly {
    readonly name: string;
    readonly secret?: { readonly secretName: string };
    readonly emptyDir?: object;
    readonly persistentVolumeClaim?: { readonly claimName: string };
  }[];
  readonly containers: readonly [ContainerSpec];
}

interface VariableSpec {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: { readonly name: string; readonly key: string };
  };
}

export interface ContainerSpec {
  readonly image: string;
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly env?: readonly VariableSpec[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly lifecycle?: {
    readonly preStop: { readonly exec: { readonly command: readonly string[] } };
  };
  readonly terminationMessagePolicy?: 'File' | 'FallbackToLogsOnError';
  readonly readinessProbe: Probe;
  readonly startupProbe?: Probe;
}

export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}

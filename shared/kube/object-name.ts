// Names that an object of Kubernetes can have. Fields that name one take any text where the kind
// has no schema, and text from there is no word of a command that people paste into a shell.

export const OBJECT_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

export const isObjectName = (name: string): boolean => OBJECT_NAME.test(name);

import type { Component } from './components.ts';

/** The output of `npm sbom --sbom-format cyclonedx`, as far as we change it. */
export interface CycloneDx {
  readonly metadata: { readonly component: Readonly<Record<string, unknown>> };
  readonly components: readonly CycloneDxComponent[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

export interface CycloneDxComponent {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly scope?: string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
  readonly licenses?: readonly unknown[];
}

/**
 * The bill of materials of the package. npm writes that of a checkout: with all tools, among which are the packages of which
 * the program and the console have the code.
 */
export function billOfMaterials(ofCheckout: CycloneDx, components: readonly Component[]): CycloneDx {
  const root = String(ofCheckout.metadata.component['bom-ref']);
  const shipped = new Map(
    components.flatMap((component) =>
      [component.name, ...component.platformPackages].map((name) => [`${name}@${component.version}`, component]),
    ),
  );
  const kept = ofCheckout.components.flatMap((found) => {
    const component = shipped.get(found['bom-ref']);
    return component === undefined ? [] : [asShipped(found, component)];
  });
  const missing = [...shipped.keys()].filter((ref) => !kept.some((found) => found['bom-ref'] === ref));
  if (missing.length > 0) throw new Error(`npm sbom does not list ${missing.join(', ')}`);
  const isKept = (ref: string): boolean => ref === root || shipped.has(ref);
  return {
    ...ofCheckout,
    metadata: {
      ...ofCheckout.metadata,
      // npm calls it after the folder.
      component: { ...ofCheckout.metadata.component, type: 'application', name: root.replace(/@[^@]*$/, '') },
    },
    components: kept,
    dependencies: ofCheckout.dependencies
      .filter(({ ref }) => isKept(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isKept) })),
  };
}

/** A lock file made by a mirror without a package does not name the licence of it. */
function asShipped(found: CycloneDxComponent, { name: ofComponent, licence, place }: Component): CycloneDxComponent {
  const licenses = found.licenses ?? [{ license: { id: licence } }];
  const isInFiles = place !== 'installed' && found['bom-ref'].startsWith(`${ofComponent}@`);
  if (!isInFiles) return { ...found, licenses };
  const properties = (found.properties ?? []).filter(({ name }) => name !== 'cdx:npm:package:development');
  return { ...found, scope: 'required', properties, licenses };
}

/**
 * Types of the elements of pages. Those of `npm:preact` would bring the browser's library along,
 * which replaces Deno's own types in every module of the project.
 */

/** What an element contains. */
export type Children =
  | string
  | number
  | boolean
  | null
  | undefined
  | JSX.Element
  | readonly Children[];

/** Creates an element; the compiler calls it. */
export declare function jsx(type: unknown, props: unknown): JSX.Element;
/** Creates an element with several children. */
export declare const jsxs: typeof jsx;
/** Elements without one around them. */
export declare const Fragment: (
  props: { readonly children?: Children },
) => JSX.Element;

/** Renders an element and escapes every text in it. */
export declare function renderToString(element: JSX.Element): string;

/** The compiler's names. */
export declare namespace JSX {
  /** An element or a component's result. */
  interface Element {
    readonly type: unknown;
    readonly props: unknown;
  }
  /** Names the property with the content. */
  interface ElementChildrenAttribute {
    readonly children: Children;
  }
  /** HTML and SVG elements with their attributes; false and undefined leave one out. */
  interface IntrinsicElements {
    readonly [element: string]: {
      readonly children?: Children;
      readonly [attribute: string]: Children;
    };
  }
}

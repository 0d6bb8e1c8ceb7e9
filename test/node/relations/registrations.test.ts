import { expect, it } from "vitest";
import { registrations, usesClass } from "../../../src/interface/questions/relations/registrations.ts";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import { indexOf } from "./support.ts";

/** What registers the definitions with a name, as `path:line certainty`. */
async function registering(files: Readonly<Record<string, string>>, name: string): Promise<string[]> {
  const index = await indexOf(files);
  const named = await index.definitions(name);
  const qualified = named.filter(({ qualifiedName }) => qualifiedName === name);
  const asked = qualified.length > 0 ? qualified : named;
  const found = await registrations(index, asked, await new UsesFinder(index, "callers").find(asked, 1));
  return found.map(({ path, line, certainty }) => `${path}:${line} ${certainty}`);
}

it.each<[path: string, text: string, name: string, lines: number[]]>([
  ["a.py", '@login\n@app.route(\n    "/x",\n)\ndef show():\n    pass\n', "show", [1, 2]],
  ["a.py", "class A:\n    @property\n    def show(self):\n        pass\n", "show", []],
  ["a.py", "@app.task\ndef other(): pass\n\ndef show():\n    pass\n", "show", []],
  ["a.py", '@app.route("/x")\ndef show():\n    pass\n\n\nshow()\n', "show", []],
  ["a.ts", 'class A {\n  @Get("x")\n  async show() {\n    return 1;\n  }\n}\n', "show", [2]],
  ["a.ts", "class A {\n  @Get() show() {\n    return 1;\n  }\n}\n", "show", [2]],
  ["A.java", 'class A {\n  @Override\n  @GetMapping("/x")\n  public void show() {}\n}\n', "show", [3]],
  ["a.cs", 'class A {\n  [HttpGet("x")]\n  [Obsolete]\n  public void Show() {}\n}\n', "Show", [2]],
  ["a.rs", '#[inline]\n#[get("/x")]\nfn show() {}\n', "show", [2]],
  ["a.php", '<?php\nclass A {\n  #[Route("/x")]\n  public function show() {}\n}\n', "show", [3]],
  ["a.ex", "defmodule A do\n  @doc false\n  @impl true\n  def show(x), do: x\nend\n", "show", [3]],
  ["A.java", "@Slf4j\n@Component\npublic class A implements B {\n  A(C c) {}\n}\n", "A", [2]],
  ["A.java", "@Component\nclass A {}\n\nclass B {\n  A a = new A();\n}\n", "A", []],
  ["a.ts", '@Component({\n  selector: "a",\n})\nexport class A {}\n', "A", [1]],
  ["a.py", "@dataclass\n@admin.register(Book)\nclass A:\n    pass\n", "A", [2]],
  ["a.cs", "[ApiController]\n[Serializable]\npublic class A {}\n", "A", [1]],
  // An instance variable is no decorator.
  ["a.rb", "class A\n  @x = 1\n  def show\n  end\nend\n", "show", []],
])(
  "functions and classes that nothing calls have the decorators above them (%s: %j)",
  async (path, text, name, lines) => {
    expect(await registering({ [path]: text }, name)).toEqual(lines.map((line) => `${path}:${line} likely`));
  },
);

it("functions have the data that name them with their file or class", async () => {
  const files = {
    "src/app/cli.py": "def main():\n    pass\n\n\nmain()\n",
    "pyproject.toml": '[project.scripts]\napp = "app.cli:main"\nother = "app.other:main"\n',
    "serverless.yml": "functions:\n  x:\n    handler: src/app/cli.main\n",
    // In code, a function that is called somewhere is not looked for in texts.
    "test.py": 'patch("app.cli.main")\n',
    "README.md": "`app.cli:main`\n",
  };
  expect(await registering(files, "main")).toEqual(["pyproject.toml:2 name", "serverless.yml:3 name"]);
  const unused = { ...files, "src/app/cli.py": "def main():\n    pass\n" };
  expect(await registering(unused, "main")).toEqual([
    "pyproject.toml:2 name",
    "serverless.yml:3 name",
    "test.py:1 name",
  ]);
});

it("classes that nothing constructs have the lines that use them otherwise", async () => {
  const files = {
    "shop/views.py": "class HomeView(View):\n    pass\n\n\nclass Other(HomeView):\n    pass\n",
    "shop/urls.py": [
      "from .views import HomeView",
      'urls = [path("", HomeView.as_view()), OldHomeView.as_view()]',
      'router.register("home", views.HomeView)',
      "VIEWS = [HomeView, Other]",
      "if isinstance(a, HomeView): pass",
      "def f(a: HomeView, b: List[HomeView]) -> HomeView: pass",
      "a: HomeView = b",
      "# register(HomeView)",
      "a = HomeView.from_json(b)",
    ].join("\n"),
    "settings.py": 'HOME = "shop.views.HomeView"\nOTHER = "other.HomeView"\n',
  };
  expect((await registering(files, "HomeView")).toSorted()).toEqual([
    "settings.py:1 name",
    ...[2, 3, 4, 9].map((line) => `shop/urls.py:${line} name`),
  ]);
});

it.each([
  ["services.AddSingleton<IShop, Shop>();", true],
  ["a.Add<Shop, Other>(b);", true],
  ["a.Add<Service<Item, Shop>>();", true],
  ["List<Shop> a;", false],
  ["var a = Shop.Create(b);", true],
  ["$a = Shop::create($b);", true],
  ["Route::get('a', [Shop::class, 'show']);", true],
  ["raise Shop", true],
  ["Shop.where(a: 1)", true],
  ["rescue Shop", false],
  ["public class Shop : Base", false],
  ["public Shop a;", false],
  ["function f(Shop $a) {}", false],
  ["use App\\Shop;", false],
  ["import a.Shop.b;", false],
  ["// Shop.create()", false],
  ["MyShop.create()", false],
  ["Shop.", false],
])("a class is used: %s", (line, uses) => {
  expect(usesClass(line, "Shop")).toBe(uses);
});

it("classes that nothing uses have the configuration that names them", async () => {
  const files = {
    "app/jobs/nightly_job.rb": "class NightlyJob < ApplicationJob\nend\n",
    "config/recurring.yml": "a:\n  class: NightlyJob\n  queue: NightlyJob now\nb: [NightlyJobs]\n- NightlyJob\n",
    "config/jobs.rb": 'JOBS = ["NightlyJob", "the NightlyJob"]\n',
    "src/com/shop/test/ShopRunner.kt": "package com.shop.test\nclass ShopRunner : Runner()\n",
    "src/com/shop/plugin/Plugin.kt": "package com.shop.plugin\nclass Plugin : Base()\n",
    "build.gradle.kts":
      'run("com.shop.test.ShopRunner")\napply("com.shop.plugin.Plugin")\napply("com.other.Plugin")\nname("Plugin")\n',
    "src/com/shop/Main.kt": "package com.shop\nclass Main : Activity()\n",
    "AndroidManifest.xml":
      '<activity\n  android:name=".Main" />\n<service android:name="com.shop.Main"/>\n<a android:name=".MainView"/>\n',
    "src/com/shop/Colors.kt": "package com.shop\nobject Colors {\n  const val RED = 1\n}\nval a = Colors.RED\n",
  };
  expect(await registering(files, "NightlyJob")).toEqual([
    "config/jobs.rb:1 name",
    "config/recurring.yml:2 name",
    "config/recurring.yml:5 name",
  ]);
  expect(await registering(files, "ShopRunner")).toEqual(["build.gradle.kts:1 name"]);
  expect(await registering(files, "Plugin")).toEqual(["build.gradle.kts:2 name"]);
  expect(await registering(files, "Main")).toEqual(["AndroidManifest.xml:2 name", "AndroidManifest.xml:3 name"]);
  expect(await registering(files, "Colors")).toEqual(["src/com/shop/Colors.kt:5 name"]);
});

it("actions of Rails have their routes", async () => {
  const files = {
    "app/controllers/users_controller.rb":
      "class UsersController < ApplicationController\n  def show\n  end\n  def tree\n  end\nend\n",
    "config/routes.rb":
      'resources :users do\n  get :tree, on: :member\n  get "showcase"\nend\nget "/u" => "users#show"\nget "/p" => "posts#show"\nroot to: "home#tree_view"\n',
  };
  expect(await registering(files, "UsersController#show")).toEqual([
    "config/routes.rb:5 name",
    "config/routes.rb:1 name",
  ]);
  expect(await registering(files, "UsersController#tree")).toEqual(["config/routes.rb:2 name"]);
  expect(await registering(files, "UsersController")).toEqual(["config/routes.rb:1 name", "config/routes.rb:5 name"]);
});

it("actions of Laravel have the routes of their controllers, and texts that name them", async () => {
  const files = {
    "app/Http/Controllers/PhotoController.php":
      "<?php\nclass PhotoController {\n  public function index() {}\n  public function other() {}\n}\n",
    "routes/web.php":
      "<?php\nRoute::apiResource('photos', PhotoController::class);\nRoute::get('x', 'PhotoController@other');\n",
  };
  expect(await registering(files, "PhotoController::index")).toEqual(["routes/web.php:2 name"]);
  expect(await registering(files, "PhotoController::other")).toEqual(["routes/web.php:3 name"]);
});

it("handlers have the attributes of markup and scenes that name them", async () => {
  const files = {
    "Page.xaml":
      '<Button Click="OnClick" Tag="OnClicked"/>\n<Button Name="OnClick" Tag="OnClick now"/>\n<Button x:Name="OnClick" id="OnClick"/>\n',
    "Page.cs": "partial class Page {\n  void OnClick(object s, object e) {}\n}\n",
    "main.tscn": '[connection signal="hit" from="A" to="." method="_on_hit"]\n',
    "main.gd": "func _on_hit():\n\tpass\n",
  };
  expect(await registering(files, "OnClick")).toEqual(["Page.xaml:1 name"]);
  expect(await registering(files, "_on_hit")).toEqual(["main.tscn:1 name"]);
});

# frozen_string_literal: true

# Records which definitions the calls of a checkout lead to while its tests run: `RUBYOPT=-r…/gold.rb GOLD_ROOT=checkout GOLD_OUT=folder`
# before the command that runs them. Each process leaves a file of rows in the form of gold.go. Only calls whose name is written on the
# calling line count: what C functions call, `send` and `method_missing` are left out. A test framework that is loaded by `ruby -r…` runs its tests after
# this has written its file: load it in the program.
module CallGold
  ROOT = "#{File.realpath(ENV.fetch("GOLD_ROOT"))}/"
  OUT = ENV.fetch("GOLD_OUT")
  ROWS = {}
  TEXTS = {}
  # Places where a class or module is opened.
  OPENED = Hash.new { |all, of| all[of] = [] }.compare_by_identity
  ATTRIBUTES = {}
  NAMES = {}

  def self.inside(path) = path&.start_with?(ROOT) ? path[ROOT.length..] : nil

  def self.text(path, line)
    TEXTS[path] ||= File.readlines(path, encoding: "UTF-8", invalid: :replace).map { |each| each.scrub.sub(/(?:^|\s)#(?!\{).*/, "") }
    TEXTS[path][line - 1] || ""
  end

  def self.written?(path, line, name)
    at = (NAMES[name] ||= /(?<![\w@$])(?<!(?<!:):)#{Regexp.escape(name)}(?![\w?!]|:(?!:))/)
    at.match?(text(path, line))
  end

  def self.row(path, line, name, to)
    own = inside(path)
    ROWS[[own, line, name, *to]] = true if own
  end

  # The place of a definition; `dispatch` for a method that no `def` makes.
  def self.place(path, line)
    own = inside(path)
    return ["-", 0] unless own

    text(path, line).match?(/\bdef\b|\battr(?:_\w+)?\b|\bclass\b|\bmodule\b/) ? [own, line] : ["dispatch", 0]
  end

  def self.construction(of, path, line)
    name = Module.instance_method(:name).bind_call(of)&.split("::")&.last
    return unless name && written?(path, line, name)

    places = OPENED.key?(of) ? OPENED[of].uniq : []
    places.empty? ? row(path, line, name, ["-", 0]) : places.each { |to| row(path, line, name, place(*to)) }
  end

  def self.called(name, original, path, line, to)
    # `x.y = 1` is known by the name of the attribute.
    shown = name.end_with?("=") && name.match?(/\A\w+=\z/) ? name.chomp("=") : name
    if written?(path, line, shown)
      row(path, line, shown, name == original ? to : ["dispatch", 0])
    elsif text(path, line).match?(/\bsuper\b/) && yield == name
      row(path, line, name, to)
    end
  end

  def self.attribute(of, name)
    ATTRIBUTES.fetch([of, name]) { |key| ATTRIBUTES[key] = of.instance_method(name).source_location }
  rescue NameError
    nil
  end

  TRACES = [
    TracePoint.new(:class) { |at| OPENED[at.self] << [at.path, at.lineno] if at.path.start_with?(ROOT) },
    TracePoint.new(:c_call) do |at|
      next unless at.path&.start_with?(ROOT)

      if at.method_id == :new && at.self.is_a?(Class)
        construction(at.self, at.path, at.lineno)
      else
        to = attribute(at.defined_class, at.method_id)
        called(at.callee_id.to_s, at.method_id.to_s, at.path, at.lineno, to ? place(*to) : ["-", 0]) { nil }
      end
    end,
    TracePoint.new(:call) do |at|
      from, = caller_locations(2, 1)
      next unless from&.absolute_path&.start_with?(ROOT)

      called(at.callee_id.to_s, at.method_id.to_s, from.absolute_path, from.lineno, place(at.path, at.lineno)) { from.base_label }
    end,
  ].each(&:enable)

  at_exit do
    at_exit do
      TRACES.each(&:disable)
      File.write(File.join(OUT, "#{Process.pid}.tsv"), ROWS.keys.map { |each| "#{each.join("\t")}\n" }.join)
    end
  end
end

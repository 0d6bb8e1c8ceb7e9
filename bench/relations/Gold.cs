// Calls and constructions of a checkout of C# as Roslyn resolves them: path, line, name, path and line of the definition, by tabs.
// Arguments: the folder of the checkout, then assemblies that it is compiled with.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

static class Gold
{
    static void Main(string[] args)
    {
        var root = args[0];
        var trees = Console.In.ReadToEnd().Split('\n').Where(own => own != "").Select(own =>
            CSharpSyntaxTree.ParseText(File.ReadAllText(Path.Combine(root, own)), new CSharpParseOptions(LanguageVersion.Preview), own)).ToList();
        var references = args.Skip(1).Select(own => MetadataReference.CreateFromFile(own));
        var options = new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary, allowUnsafe: true);
        var compilation = CSharpCompilation.Create("checkout", trees, references, options);
        foreach (var tree in trees)
        {
            var model = compilation.GetSemanticModel(tree);
            foreach (var node in tree.GetRoot().DescendantNodes())
            {
                var call = node as InvocationExpressionSyntax;
                var made = node as ObjectCreationExpressionSyntax;
                if (call != null) Write(tree, NameOf(call.Expression), model.GetSymbolInfo(call).Symbol);
                if (made != null) Write(tree, NameOf(made.Type), model.GetSymbolInfo(made.Type).Symbol);
            }
        }
    }

    static SyntaxToken NameOf(SyntaxNode node)
    {
        if (node is SimpleNameSyntax) return ((SimpleNameSyntax)node).Identifier;
        if (node is MemberAccessExpressionSyntax) return ((MemberAccessExpressionSyntax)node).Name.Identifier;
        if (node is MemberBindingExpressionSyntax) return ((MemberBindingExpressionSyntax)node).Name.Identifier;
        return node is QualifiedNameSyntax ? ((QualifiedNameSyntax)node).Right.Identifier : default(SyntaxToken);
    }

    static void Write(SyntaxTree tree, SyntaxToken name, ISymbol symbol)
    {
        if (name.RawKind == 0 || symbol == null) return;
        var method = symbol as IMethodSymbol;
        if (method != null) symbol = method.ReducedFrom ?? method;
        symbol = symbol.OriginalDefinition;
        var line = tree.GetLineSpan(name.Span).StartLinePosition.Line + 1;
        var places = symbol.Locations.Where(own => own.IsInSource).ToList();
        if (places.Count == 0) Console.WriteLine(string.Join("\t", tree.FilePath, line, name.Text, "-", 0));
        foreach (var place in places)
            Console.WriteLine(string.Join("\t", tree.FilePath, line, name.Text, place.SourceTree.FilePath, place.GetLineSpan().StartLinePosition.Line + 1));
    }
}
